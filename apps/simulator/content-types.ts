import type { FastifyInstance } from 'fastify';

/** Lets upstreams share a path: `constraints: { contentType: 'application/json' }` of a route takes such bodies alone. */
export function tellByContentType(app: FastifyInstance): void {
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
