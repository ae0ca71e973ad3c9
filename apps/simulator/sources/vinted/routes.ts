import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import { escapeMarkup } from '../shared/markup.js';
import { searchCatalog } from './catalog.js';
import { entryOf } from './listings.js';
import type { CatalogSite } from './listings.js';
import { priceOf } from './prices.js';
import type { SimulatedSource } from '../simulated-source.js';

const MAX_PAGE_SIZE = 96;
const VISIT_SECONDS = 7_200;
const SERVED = { config: { source: 'vinted' as const } };
const SIGN_IN = { config: { source: 'vinted' as const, signIn: true } };
const HEX = '0123456789abcdef';

const REFUSALS: Record<number, object> = {
  401: {
    code: 100,
    message: "Jeton d'authentification invalide",
    message_code: 'invalid_authentication_token',
  },
  403: { code: 106, message: 'Accès refusé ', message_code: 'access_denied' },
  404: { code: 104, message: 'Contenu introuvable', message_code: 'not_found' },
};

/**
 * One site of Vinted for visitors without an account: the first page with its cookies, the catalogue, pages of
 * listings. The real markets have different domains; the simulator is one host for all of them. It shows the listings
 * of every market, in euros or in the `currency` of the search.
 */
export const vintedSource: SimulatedSource = {
  routes,
  refuse(reply, status, message) {
    const refusal = reply.request.routeOptions.url?.startsWith('/api/') ? REFUSALS[status] : undefined;
    // The servers in front of the catalogue send all other refusals, as a page.
    return refusal ? answer(reply, status, refusal) : page(reply, status, `${status} ${message}`);
  },
  // The id that a search in the seller's own market returns.
  itemIdOf: ({ community, id }) => `vinted:${community}:${id}`,
};

function routes(app: FastifyInstance, context: SimContext): void {
  const { world, clock, baseUrl } = context;
  const visits = new Visits(context);

  app.get('/', SIGN_IN, (_, reply) => page(visits.begin(reply), 200, 'Vinted'));
  app.get('/api/v2/catalog/items', SERVED, (request, reply) => {
    if (!visits.has(request)) return answer(reply, 401, REFUSALS[401]);
    return catalog(request, reply, context);
  });
  app.get<{ Params: { name: string } }>('/items/:name', SERVED, (request, reply) => {
    const post = world.find('vinted', /^\d+/.exec(request.params.name)?.[0] ?? '');
    if (!post) return page(reply, 404, 'Page introuvable');
    const { asWords } = priceOf(post, { currency: 'EUR', now: clock.now() });
    const link = `<link rel="canonical" href="${baseUrl()}/items/${post.id}">`;
    return page(reply, 200, post.title, `${link}<p>${asWords}</p><p>${escapeMarkup(post.text)}</p>`);
  });
}

function catalog(
  request: FastifyRequest,
  reply: FastifyReply,
  { world, clock, baseUrl }: SimContext,
): FastifyReply {
  const { one, all } = queryOf(request);
  const whole = (key: string) => Math.max(1, Math.floor(Number(one(key))) || 1);
  const size = one('per_page') === undefined ? MAX_PAGE_SIZE : Math.min(MAX_PAGE_SIZE, whole('per_page'));
  const at = whole('page');
  const now = clock.now();
  const catalog: CatalogSite = { site: baseUrl(), currency: one('currency') || 'EUR', now };
  const found = searchCatalog(world.posts('vinted'), all, catalog);
  const listings = found.slice((at - 1) * size, at * size);
  const id = (what: string) => uuidOf(`${what} ${now.getTime()} ${request.url}`);
  return answer(reply, 200, {
    items: listings.map((post) => entryOf(post, catalog)),
    search_tracking_params: {
      search_correlation_id: id('correlation'),
      global_search_session_id: id('global'),
      search_session_id: id('session'),
    },
    pagination: {
      current_page: at,
      total_pages: Math.ceil(found.length / size),
      total_entries: found.length,
      per_page: size,
      time: Number(one('time')) || Math.floor(now.getTime() / 1000),
    },
    code: 0,
  });
}

/** Visits with tokens that contain their expiry (unsigned: the simulator checks no signature). */
class Visits {
  private begun = 0;

  constructor(private readonly context: SimContext) {}

  begin(reply: FastifyReply): FastifyReply {
    const now = this.now();
    const visit = (this.begun += 1);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = (seconds: number) =>
      `${part({ typ: 'JWT', alg: 'none' })}.${part({ iat: now, exp: now + seconds, sid: visit })}.c2lt`;
    const cookie = (name: string, value: string, seconds: number) =>
      `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;
    return reply.header('set-cookie', [
      cookie('__cf_bm', charactersFrom(`cloudflare ${visit} ${now}`, HEX, 40), 1_800),
      cookie('anon_id', uuidOf(`visitor ${visit} ${now}`), 20 * 365 * 86_400),
      cookie('access_token_web', token(VISIT_SECONDS), VISIT_SECONDS),
      cookie('refresh_token_web', token(7 * 86_400), 7 * 86_400),
    ]);
  }

  has(request: FastifyRequest): boolean {
    const token = /(?:^|;\s*)access_token_web=([^;]*)/.exec(request.headers.cookie ?? '')?.[1]?.trim() ?? '';
    return token !== '' && token !== 'wrong' && (expiryOf(token) ?? Infinity) > this.now();
  }

  private now(): number {
    return Math.floor(this.context.clock.now().getTime() / 1000);
  }
}

/** Returns the expiry of a token in epoch seconds; undefined if the token has none or cannot be read. */
function expiryOf(token: string): number | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp?: number;
    };
    return claims.exp;
  } catch {
    return undefined;
  }
}

function uuidOf(seed: string): string {
  return charactersFrom(seed, HEX, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function page(reply: FastifyReply, status: number, title: string, body = ''): FastifyReply {
  const head = `<head><title>${escapeMarkup(title)}</title></head>`;
  const html = `<!doctype html><html lang="fr">${head}<body><h1>${escapeMarkup(title)}</h1>${body}</body></html>`;
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}
