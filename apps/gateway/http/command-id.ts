import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { newId } from '#kernel';

type CommandRequest = FastifyRequest & { commandId?: string };

/**
 * The id of the request's command, as a controller's parameter. A request that is repeated with its `Idempotency-Key`
 * gets the same id again, so that the command has its effect only once.
 */
export const CommandId = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  commandIdOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Returns the id of the request's command: a new id, unless `setCommandId` has set the id of an earlier command. */
export function commandIdOf(request: FastifyRequest): string {
  return ((request as CommandRequest).commandId ??= newId());
}

/** Gives the request the id of an earlier command, which the request repeats. */
export function setCommandId(request: FastifyRequest, commandId: string): void {
  (request as CommandRequest).commandId = commandId;
}
