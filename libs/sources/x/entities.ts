import { unescapedOffsetsIn } from '../shared/escaped-text.js';
import { listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import type { Includes } from './includes.js';
import { linksOf } from './links.js';

/** The position of an entity in the tweet's `text`, in code points; `end` is exclusive. Null if X does not send it. */
type Place = { start: number | null; end: number | null };

/** The entities that X has found in a tweet's text. */
export type Entities = {
  urls: ({ url: string; expandedUrl: string | null; displayUrl: string | null } & Place)[];
  mentions: ({ id: string | null; username: string; name: string | null } & Place)[];
  hashtags: ({ text: string } & Place)[];
  cashtags: ({ text: string } & Place)[];
};

/**
 * Reads a tweet's entities.
 * @param written the tweet's text as X sent it (escaped), because X counts offsets in this text
 */
export function entitiesOf(entities: JsonRecord | undefined, written: string, includes: Includes): Entities {
  const unescapedOffset = unescapedOffsetsIn(written);
  const place = (entity: JsonRecord): Place => {
    const [start, end] = [numberOf(entity['start']), numberOf(entity['end'])];
    if (start === undefined || end === undefined) return { start: null, end: null };
    return { start: unescapedOffset(start), end: unescapedOffset(end) };
  };
  const tags = (value: unknown) =>
    named(value, 'tag').map(({ name, entity }) => ({ text: name, ...place(entity) }));
  return {
    urls: linksOf(entities?.['urls']).map(({ url, expandedUrl, displayUrl, record }) => ({
      url,
      expandedUrl: expandedUrl ?? null,
      displayUrl: displayUrl ?? null,
      ...place(record),
    })),
    mentions: named(entities?.['mentions'], 'username').map(({ name: username, entity }) => {
      const id = textOf(entity['id']) ?? null;
      const name = textOf(includes.users.get(id ?? '')?.['name']) ?? null;
      return { id, username, name, ...place(entity) };
    }),
    hashtags: tags(entities?.['hashtags']),
    cashtags: tags(entities?.['cashtags']),
  };
}

function named(value: unknown, key: string): { name: string; entity: JsonRecord }[] {
  return (listOf(value) ?? []).flatMap((entry) => {
    const entity = recordOf(entry);
    const name = textOf(entity?.[key]);
    return entity && name !== undefined ? [{ name, entity }] : [];
  });
}
