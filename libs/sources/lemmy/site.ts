import { sessionCache } from '../shared/session-cache.js';
import { listOf, numberOf, recordOf, textOf, unknownShape } from '../shared/shape.js';
import type { FetchContext } from '../source.js';
import { askAccepting, type Instance } from './ask.js';

/** What has to be known of an instance before it can be asked. */
export interface Site {
  /** The newest interface that it speaks. */
  api: 'v3' | 'v4';
  /** Language codes by the instance's numbers. */
  languages: ReadonlyMap<number, string>;
}

interface Kept {
  site: Promise<Site>;
  /** Epoch milliseconds: asked again after it, since instances are upgraded. */
  until: number;
}

const KEPT_MS = 6 * 3_600_000;
const SITES_KEPT = 200;
// Lemmy has some 180. Whoever answers more, or names a language by a story, is not believed all of it.
const MOST_LANGUAGES = 500;
const LANGUAGE_CODE = /^[a-z][a-z0-9-]{1,19}$/i;

/**
 * Asks an instance for its version, once in six hours. Lemmy 1.0 still answers v3, and yet not as 0.19 does: it knows
 * no pages there, and no order of comments (crates/api/routes_v3). So the version decides, and v4 is asked where
 * there is one.
 */
export async function siteOf(context: FetchContext, instance: Instance): Promise<Site> {
  const sites = sessionCache<Kept>(context, 'lemmy.sites', SITES_KEPT);
  const kept = sites.get(instance.host);
  if (kept && kept.until > context.now.getTime()) return kept.site;
  const fresh: Kept = { site: readSite(context, instance), until: context.now.getTime() + KEPT_MS };
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
  const entries = (listOf(value) ?? []).slice(0, MOST_LANGUAGES).flatMap((entry) => {
    const language = recordOf(entry);
    const [id, code] = [numberOf(language?.['id']), textOf(language?.['code'])];
    // "und" is "nobody has said".
    const isCode = code !== undefined && code !== 'und' && LANGUAGE_CODE.test(code);
    return id === undefined || !isCode ? [] : [[id, code] as const];
  });
  return new Map(entries);
}
