import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';

/** One engine of the source ai_answers. */
export interface EngineVoice {
  /** Its path, as a route. */
  path: string;
  /** What answers its requests in one world. */
  open(context: SimContext): (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** A refusal in the engine's words; `message` where it has none for the status. */
  refuse(reply: FastifyReply, status: number, message: string): FastifyReply;
}

/** What an engine says from now on. */
export interface Said {
  /** The same text for the same answer: ids and hashes are made of it. */
  seed: string;
  text: string;
  /** Pages that it cites. */
  pages: Page[];
  /** It stops for a moment before it answers, where an engine does so. */
  pauses: boolean;
}

/** A page of the web. */
export interface Page {
  url: string;
  title: string;
  host: string;
}

/** What every engine says until a post says otherwise. It is about no brand and cites nothing. */
const STANDING = 'There are several good ones; it depends on what matters to you.';
/** Looked at, and never cited: of no brand either. */
export const LOOKED_AT: Page = pageOf('https://roundups.example/best-of-the-year', 'The best of the year');

/** The newest post whose community is the engine, as what it says. */
export function saidBy(engine: string, { world }: SimContext): Said {
  const post = world.posts('ai_answers').findLast(({ community }) => community === engine);
  if (!post) return { seed: engine, text: STANDING, pages: [], pauses: false };
  return { seed: post.id, text: post.text, pages: pagesOf(post), pauses: post.number % 8 === 0 };
}

/** What somebody would type into a search for the prompt. */
export function queryOfPrompt(prompt: string): string {
  return prompt.replace(/[?!.\s]+$/, '').toLowerCase();
}

/** The text of a message: a text, or parts with a text each. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}

/** A rough count of tokens, as the usage of an answer tells it. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

/** What engines hand on and nobody but them is meant to read. */
export function opaque(seed: string, length: number): string {
  return charactersFrom(seed, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', length);
}

/** Where an address of the text stands in it, in UTF-16 code units; undefined where it does not. */
export function placeOf(page: Page, text: string): { start: number; end: number } | undefined {
  const start = text.indexOf(page.url);
  return start < 0 ? undefined : { start, end: start + page.url.length };
}

/** The body of a request; every engine is sent JSON. */
export function bodyOf(request: FastifyRequest): Record<string, unknown> {
  const { body } = request;
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

/** The key behind `Bearer`; empty where there is none. */
export function bearerOf(request: FastifyRequest): string {
  return /^bearer (.*)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? '';
}

/** Answers JSON without a charset, as these upstreams do. */
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
