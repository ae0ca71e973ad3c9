import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';

/** One engine of the source ai_answers. */
export interface SimulatedEngine {
  /** The path of the engine's API, as a route. */
  path: string;
  /** Creates the handler of the engine's requests in one world. */
  open(context: SimContext): (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** Refuses a request in the engine's format. The engine can use `message` if it has no text of its own. */
  refuse(reply: FastifyReply, status: number, message: string): FastifyReply;
}

/** The current answer of an engine. */
export interface EngineAnswer {
  /** A text that identifies the answer. Ids and hashes are derived from it. */
  seed: string;
  text: string;
  /** The cited pages. */
  pages: Page[];
  /** True if an engine that can pause (anthropic) pauses after its search. */
  pauses: boolean;
}

/** A page of the web. */
export interface Page {
  url: string;
  title: string;
  host: string;
}

/** The answer of an engine that has no post. It names no brand and cites nothing. */
const DEFAULT_ANSWER = 'There are several good ones; it depends on what matters to you.';
/** A page that engines find but never cite. It names no brand. */
export const UNCITED_PAGE: Page = pageOf('https://roundups.example/best-of-the-year', 'The best of the year');

/** Returns the answer from the newest post whose community is the engine, or the default answer if it has no post. */
export function answerOf(engine: string, { world }: SimContext): EngineAnswer {
  const post = world.posts('ai_answers').findLast(({ community }) => community === engine);
  if (!post) return { seed: engine, text: DEFAULT_ANSWER, pages: [], pauses: false };
  return { seed: post.id, text: post.text, pages: pagesOf(post), pauses: post.number % 8 === 0 };
}

/** Returns the web search for the prompt: the prompt in lower case, without punctuation at its end. */
export function queryOfPrompt(prompt: string): string {
  return prompt.replace(/[?!.\s]+$/, '').toLowerCase();
}

/** Returns the text of a message: a string, or parts that each have a text. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}

/** Returns a rough number of tokens, for the usage of an answer. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Returns text that looks encrypted but depends only on `seed`. */
export function opaque(seed: string, length: number): string {
  return charactersFrom(seed, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', length);
}

/**
 * Returns the position of the page's address in the text, in UTF-16 code units; undefined if the text does not contain
 * the address.
 */
export function placeOf(page: Page, text: string): { start: number; end: number } | undefined {
  const start = text.indexOf(page.url);
  return start < 0 ? undefined : { start, end: start + page.url.length };
}

/** Returns the body of a request. All engines receive JSON. */
export function bodyOf(request: FastifyRequest): Record<string, unknown> {
  const { body } = request;
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

/** Returns the key after `Bearer`; empty if there is none. */
export function bearerOf(request: FastifyRequest): string {
  return /^bearer (.*)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? '';
}

/** Answers with JSON without a charset, like these upstreams. */
export function plainJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return answer(reply, status, body).header('content-type', 'application/json');
}

function pagesOf({ link, title, text }: SimPost): Page[] {
  const linked = URL.canParse(link) ? [pageOf(link, title)] : [];
  const inText = [...text.matchAll(/https?:\/\/[^\s)\]>"]+/g)]
    .map(([found]) => found.replace(/[.,;:!?]+$/, ''))
    .filter((url) => URL.canParse(url) && url !== link)
    .map((url) => pageOf(url, new URL(url).hostname));
  return [...new Map([...linked, ...inText].map((page) => [page.url, page])).values()];
}

function pageOf(url: string, title: string): Page {
  return { url, title, host: new URL(url).hostname.replace(/^www\./, '') };
}
