import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { Refusal, type Fault } from '#kernel';

/**
 * Refuses input that a route would ignore without an error: parameters of a route that reads no parameters, and the
 * body of a route that accepts no body. Routes that read parameters refuse unknown parameters themselves. An empty
 * object counts as no body.
 */
export class IgnoredInputGuard implements CanActivate {
  /** @throws Refusal `invalid` that names the unknown keys, at most 50 of them */
  canActivate(context: ExecutionContext): boolean {
    const { url, query, body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!url.startsWith('/v1/')) return true;
    const read = readBy(context);
    const faults = [
      ...(read.has(RouteParamtypes.QUERY) ? [] : unknown(query, 'is not a known parameter')),
      ...(read.has(RouteParamtypes.BODY) ? [] : bodyFaults(body)),
    ];
    if (faults.length > 0) throw Refusal.validation(faults);
    return true;
  }
}

/**
 * Returns the parts of the request that Nest's decorators (`@Query()`, `@Body()`) pass to the handler, as numbers of
 * RouteParamtypes.
 *
 * Nest names the handler's parameters with these decorators by kind and position, for example `4:0`. It gives parameters
 * with our own decorators (`@From()`) random names. A random name can begin with a digit, so only a whole number before
 * the colon is a kind.
 */
function readBy(context: ExecutionContext): ReadonlySet<number> {
  const parameters = Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    context.getClass(),
    context.getHandler().name,
  ) as Record<string, unknown> | undefined;
  return new Set(Object.keys(parameters ?? {}).map((key) => Number(key.split(':')[0])));
}

function bodyFaults(body: unknown): Fault[] {
  if (body === undefined || body === null) return [];
  return typeof body === 'object' && !Array.isArray(body)
    ? unknown(body, 'is not a known key')
    : [{ path: '', message: 'this route takes no body' }];
}

function unknown(given: unknown, message: string): Fault[] {
  return Object.keys((given ?? {}) as object).map((path) => ({ path, message }));
}
