import type { FastifyInstance, FastifyReply } from 'fastify';
import type { SimContext } from '../context.js';
import type { SimPost } from '../world/post.js';

/** How the simulator speaks as one source. */
export interface SourceVoice {
  /** The upstream's endpoints, with its paths and its wire format. */
  routes(app: FastifyInstance, context: SimContext): void;
  /** A refusal with this status, in the upstream's own shape. */
  refuse(reply: FastifyReply, status: number, message: string): FastifyReply;
  /** An answer that parses and is not what the source speaks; JSON of another kind where absent. */
  changeShape?(reply: FastifyReply): FastifyReply;
  /** The item that a connector makes of the post; its own id where absent, undefined where only a reader knows. */
  itemIdOf?(post: SimPost): string | undefined;
}
