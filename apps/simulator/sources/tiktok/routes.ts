import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'lossless-json';
import { answer, queryOf } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { dayOf, tiktokQuery } from './query.js';
import { FIELD_NAMES, videoOf } from './videos.js';
import type { SimulatedSource } from '../simulated-source.js';

const TOKEN_SECONDS = 7_200;
const MAX_DAYS = 30;
const MAX_SEARCHES = 1_000;
const SERVED = { config: { source: 'tiktok' as const } };
// Product Hunt's sign-in has the same path, but receives JSON.
const SIGN_IN = {
  config: { source: 'tiktok' as const, signIn: true },
  constraints: { contentType: 'application/x-www-form-urlencoded' },
};

/** TikTok's Research API: sign-in and `/v2/research/video/query/`. The limit of requests in a day is not simulated. */
export const tiktokSource: SimulatedSource = { routes, refuse };

function routes(app: FastifyInstance, context: SimContext): void {
  const tokens = new Tokens(context);
  const searches = new Searches(context);
  app.post('/v2/oauth/token', SIGN_IN, (request, reply) => tokens.grant(request, reply));
  app.post('/v2/research/video/query', SERVED, (request, reply) =>
    tokens.accepts(request.headers.authorization)
      ? searches.answer(request, reply)
      : refuse(reply, 401, 'Unauthorized'),
  );
}

const PROBLEMS: Record<number, { code: string; message: string }> = {
  401: {
    code: 'access_token_invalid',
    message: 'The access token is invalid or not found in the request.',
  },
  429: {
    code: 'rate_limit_exceeded',
    message: 'The API rate limit was exceeded. Please try again later.',
  },
  500: { code: 'internal_error', message: 'Something is wrong. Please try again later.' },
};

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  const problem = PROBLEMS[status];
  if (problem) return answer(reply, status, { error: { ...problem, log_id: logId(reply.request.url) } });
  if (status === 404) return reply.code(404).type('text/plain').send('Unsupported path(Janus)');
  // The server in front of the API sends this refusal.
  return reply
    .code(status)
    .type('text/html')
    .send(`<html><head><title>${status} ${message}</title></head><body>${message}</body></html>`);
}

/**
 * Access tokens that expire by the clock. Every project with a key and a secret is accepted, unless the secret is
 * `wrong`.
 */
class Tokens {
  private readonly expiries = new Map<string, number>();

  constructor(private readonly context: SimContext) {}

  grant(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
    const [key = '', secret = ''] = [form.get('client_key') ?? '', form.get('client_secret') ?? ''];
    const refused = (error: string, error_description: string) =>
      answer(reply, 200, { error, error_description, log_id: logId(`${key} ${error}`) });
    if (form.get('grant_type') !== 'client_credentials')
      return refused('unsupported_grant_type', 'Grant type is not supported.');
    if (key === '' || secret === '' || secret === 'wrong')
      return refused('invalid_client', 'Client key or secret is incorrect.');
    const now = this.context.clock.now().getTime();
    const token = `clt.${charactersFrom(`${key} ${now} ${this.expiries.size}`, 'ABCDEFGHJKLMNPabcdefghjkmnp23456789', 56)}`;
    this.expiries.set(token, now + TOKEN_SECONDS * 1000);
    return answer(reply, 200, { access_token: token, expires_in: TOKEN_SECONDS, token_type: 'Bearer' });
  }

  accepts(authorization: string | undefined): boolean {
    const token = /^bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '';
    return (this.expiries.get(token) ?? 0) > this.context.clock.now().getTime();
  }
}

/** The query of a search and its result, which is stored so that later pages contain the same videos. */
interface Search {
  asked: string;
  found: readonly SimPost[];
}

/** The newest `MAX_SEARCHES` searches, whose later pages can be read. */
class Searches {
  private readonly kept = new Map<string, Search>();
  private begun = 0;

  constructor(private readonly context: SimContext) {}

  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const invalid = (message: string) =>
      answer(reply, 400, { error: { code: 'invalid_params', message, log_id: logId(message) } });
    const fields = queryOf(request).one('fields')?.split(',') ?? [];
    if (fields.length === 0) return invalid('The fields parameter is missing');
    const unknown = fields.find((name) => !FIELD_NAMES.includes(name));
    if (unknown !== undefined) return invalid(`Invalid fields: ${unknown}`);
    const body = (request.body ?? {}) as Record<string, unknown>;
    const { cursor = 0, max_count: size = 20 } = body;
    if (!isWhole(cursor, 0, 100_000) || !isWhole(size, 1, 100)) return invalid('Invalid count or cursor');
    const begun = this.searchOf(body);
    if (typeof begun === 'string') return invalid(begun);

    const [id, { found }] = begun;
    const videos = found.slice(cursor, cursor + size).map((post) => videoOf(post, fields));
    const data = {
      cursor: cursor + size,
      has_more: cursor + size < found.length,
      search_id: id,
      videos,
    };
    const error = { code: 'ok', message: '', log_id: logId(`${id} ${cursor}`) };
    return reply.type('application/json; charset=utf-8').send(stringify({ data, error }));
  }

  /**
   * Returns the id and the search of a request: a new search, or the search that the request continues. Returns an
   * error message if the request is not valid.
   */
  private searchOf(body: Record<string, unknown>): [string, Search] | string {
    const { query, start_date: start, end_date: end, search_id: given } = body;
    const [from, to] = [start, end].map(timeOf);
    if (from === undefined || to === undefined) return 'Invalid start_date or end_date: YYYYMMDD is wanted';
    if (to < from || to - from > MAX_DAYS * 86_400_000)
      return 'The end_date must be within 30 days of the start_date';
    const read = tiktokQuery(query);
    if ('refusal' in read) return read.refusal;
    const asked = JSON.stringify([query, start, end]);
    if (given !== undefined) {
      const kept = this.kept.get(String(given));
      return kept?.asked === asked
        ? [String(given), kept]
        : `Search Id ${String(given)} is invalid or expired`;
    }
    const found = this.context.world
      .posts('tiktok')
      .filter((post) => {
        const day = dayOf(post.publishedAt);
        return day >= String(start) && day <= String(end) && read.matches(post);
      })
      .reverse();
    const id = `7${charactersFrom(`tiktok search ${(this.begun += 1)} ${asked}`, '0123456789', 18)}`;
    const [oldest] = this.kept.keys();
    if (this.kept.size >= MAX_SEARCHES && oldest !== undefined) this.kept.delete(oldest);
    this.kept.set(id, { asked, found });
    return [id, { asked, found }];
  }
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

/** Returns midnight of a day `YYYYMMDD` in UTC; undefined if the text is not a day. */
function timeOf(day: unknown): number | undefined {
  const [, year, month, date] = /^(\d{4})(\d\d)(\d\d)$/.exec(String(day)) ?? [];
  const at = Date.parse(`${year}-${month}-${date}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** Returns the id by which TikTok's support can find the request. */
function logId(what: string): string {
  return `20260301120000${charactersFrom(`tiktok log ${what}`, '0123456789ABCDEF', 20)}`;
}
