import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './api-keys.js';

type CallerRequest = FastifyRequest & { caller?: Caller };

/** The caller of the request, as a controller's parameter. @throws Error on a route without authentication */
export const From = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callerOf(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new Error('a route without authentication has no caller');
  return caller;
});

/** The caller; undefined before the request is admitted, and on routes without authentication. */
export function callerOf(request: FastifyRequest): Caller | undefined {
  return (request as CallerRequest).caller;
}

/** Stores the caller of a request. */
export function setCaller(request: FastifyRequest, caller: Caller): void {
  (request as CallerRequest).caller = caller;
}
