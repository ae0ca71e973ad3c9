import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import { ApiKeys, type Caller } from './api-keys.js';

type CallerRequest = FastifyRequest & { caller?: Caller };

/**
 * Lets a request in with a good `x-api-key`. The request quota of the account takes its place here, once the caller
 * is known.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly keys: ApiKeys) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<CallerRequest>();
    const key = request.headers['x-api-key'];
    const caller = typeof key === 'string' ? await this.keys.callerOf(key) : undefined;
    if (!caller) {
      const message = key === undefined ? 'the header x-api-key is missing' : 'the API key is not valid';
      throw new Refusal(401, 'UNAUTHORIZED', message);
    }
    if (caller.scope !== 'write' && request.method !== 'GET' && request.method !== 'HEAD')
      throw new Refusal(403, 'FORBIDDEN', 'this API key may only read');
    request.caller = caller;
    return true;
  }
}

/** The caller of the request, as a controller's parameter. */
export const From = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<CallerRequest>();
  if (!caller) throw new Error('a route without the key guard asks for its caller');
  return caller;
});
