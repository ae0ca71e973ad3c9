import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { newId } from '#kernel';

type CommandRequest = FastifyRequest & { commandId?: string };

/**
 * The id of the command that the request becomes, as a controller's parameter: a request that is repeated under its
 * `Idempotency-Key` has the same one again, so that its effect comes about once.
 */
export const CommandId = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  commandIdOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The id of the command that the request becomes: a new one unless `setCommandId` has given it another. */
export function commandIdOf(request: FastifyRequest): string {
  return ((request as CommandRequest).commandId ??= newId());
}

/** Gives the request the id of a command that it takes up again. */
export function setCommandId(request: FastifyRequest, commandId: string): void {
  (request as CommandRequest).commandId = commandId;
}
