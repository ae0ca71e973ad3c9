import type { FastifyInstance } from 'fastify';

/**
 * Allows two upstreams to share a path: a route with `constraints: { contentType: 'application/json' }` receives only
 * requests of this content type.
 */
export function routeByContentType(app: FastifyInstance): void {
  app.addConstraintStrategy({
    name: 'contentType',
    storage: () => {
      const handlers = new Map<unknown, never>();
      return {
        get: (type) => handlers.get(type) ?? null,
        set: (type, handler) => void handlers.set(type, handler as never),
      };
    },
    deriveConstraint: ({ headers }) => headers['content-type']?.split(';')[0]?.trim().toLowerCase(),
  });
}
