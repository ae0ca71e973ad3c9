import { listOf, numberOf, recordOf, textOf, unknownShape } from '../shape.js';
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

/**
 * Asks an instance for its version, once in six hours. Lemmy 1.0 still answers v3, and yet not as 0.19 does: it knows
 * no pages there, and no order of comments (crates/api/routes_v3). So the version decides, and v4 is asked where
 * there is one.
 */
export async function siteOf(context: FetchContext, instance: Instance): Promise<Site> {
  const key = `lemmy.site:${instance.host}`;
  const kept = context.session.get(key) as Kept | undefined;
  if (kept && kept.until > context.now.getTime()) return kept.site;
  const fresh: Kept = { site: readSite(context, instance), until: context.now.getTime() + KEPT_MS };
  context.session.set(key, fresh);
  fresh.site.catch(() => {
    if (context.session.get(key) === fresh) context.session.delete(key);
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
  const entries = (listOf(value) ?? []).flatMap((entry) => {
    const language = recordOf(entry);
    const [id, code] = [numberOf(language?.['id']), textOf(language?.['code'])];
    // "und" is "nobody has said".
    return id === undefined || code === undefined || code === 'und' ? [] : [[id, code] as const];
  });
  return new Map(entries);
}
