import { sessionCache } from '../shared/session-cache.js';
import { listOf, numberOf, recordOf, textOf, unknownShape } from '../shared/shape.js';
import type { FetchContext } from '../source.js';
import { askAccepting, type Instance } from './ask.js';

/** Properties of an instance that Earshot needs to send requests and to read responses. */
export interface Site {
  /** The newest API version that the instance supports. */
  api: 'v3' | 'v4';
  /** Language codes, by the number that the instance uses for the language. */
  languages: ReadonlyMap<number, string>;
}

interface CachedSite {
  site: Promise<Site>;
  /** Epoch milliseconds. After this time the version is read again, because instances are upgraded. */
  until: number;
}

const KEPT_MS = 6 * 3_600_000;
const SITES_KEPT = 200;
// Maximum number of languages that are read: Lemmy has about 180. Entries beyond this limit, and codes that are too
// long, are ignored.
const MAX_LANGUAGES = 500;
const LANGUAGE_CODE = /^[a-z][a-z0-9-]{1,19}$/i;

/**
 * Reads the version and the languages of an instance, once in six hours. Lemmy 1.0 still supports v3, but without pages
 * and without the order of comments (crates/api/routes_v3). So Earshot uses v4 from version 1 on.
 */
export async function siteOf(context: FetchContext, instance: Instance): Promise<Site> {
  const sites = sessionCache<CachedSite>(context, 'lemmy.sites', SITES_KEPT);
  const kept = sites.get(instance.host);
  if (kept && kept.until > context.now.getTime()) return kept.site;
  const fresh: CachedSite = { site: readSite(context, instance), until: context.now.getTime() + KEPT_MS };
  sites.set(instance.host, fresh);
  fresh.site.catch(() => {
    if (sites.get(instance.host) === fresh) sites.delete(instance.host);
  });
  return fresh.site;
}

async function readSite(context: FetchContext, instance: Instance): Promise<Site> {
  const { status, body } = await askAccepting(context, instance, '/api/v3/site', [404, 410]);
  if (status === 404 || status === 410) return { api: 'v4', languages: new Map() };
  const site = recordOf(body);
  const major = /^v?(\d+)\./.exec(textOf(site?.['version']) ?? '')?.[1];
  if (!site || major === undefined) throw unknownShape('lemmy', 'a site with a "version"');
  return { api: Number(major) >= 1 ? 'v4' : 'v3', languages: languagesOf(site['all_languages']) };
}

function languagesOf(value: unknown): Map<number, string> {
  const entries = (listOf(value) ?? []).slice(0, MAX_LANGUAGES).flatMap((entry) => {
    const language = recordOf(entry);
    const [id, code] = [numberOf(language?.['id']), textOf(language?.['code'])];
    // "und" means that the language is not specified.
    const isCode = code !== undefined && code !== 'und' && LANGUAGE_CODE.test(code);
    return id === undefined || !isCode ? [] : [[id, code] as const];
  });
  return new Map(entries);
}
