import type { FastifyInstance, FastifyReply } from 'fastify';
import type { SimContext } from '../context.js';
import type { SimPost } from '../world/post.js';

/** The simulator's implementation of one source. */
export interface SimulatedSource {
  /** The upstream's endpoints, with its paths and its wire format. */
  routes(app: FastifyInstance, context: SimContext): void;
  /**
   * Refuses a request in the format of the upstream, with this status. Stack Overflow answers most of these statuses
   * with 400.
   */
  refuse(reply: FastifyReply, status: number, message: string): FastifyReply;
  /** Sends an answer that can be parsed but does not have the format of the source. Default: JSON with other keys. */
  changeShape?(reply: FastifyReply): FastifyReply;
  /**
   * Returns the item id that a connector gives the post. Default: the post's own id. Undefined if only the connector
   * can compute it.
   */
  itemIdOf?(post: SimPost): string | undefined;
}
