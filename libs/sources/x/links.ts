import { unescaped } from '../shared/escaped-text.js';
import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';

/** A link of a text. */
export interface Link {
  /** As it stands in the text: `https://t.co/…`. */
  url: string;
  expandedUrl: string | undefined;
  displayUrl: string | undefined;
  record: JsonRecord;
}

/** What a link leads to. */
export type Card = {
  /** X does not say which kind of card its clients show. */
  type: null;
  url: string;
  title: string;
  description: string | null;
  imageUrl: string | null;
};

/** Reads the `urls` of a text's entities. */
export function linksOf(urls: unknown): Link[] {
  return (listOf(urls) ?? []).flatMap((entry) => {
    const record = recordOf(entry);
    const url = textOf(record?.['url']);
    if (!record || url === undefined) return [];
    const expandedUrl = textOf(record['expanded_url']);
    return [{ url, expandedUrl, displayUrl: textOf(record['display_url']), record }];
  });
}

/** The text with the addresses behind X's short links. A link that is not explained stays as it is. */
export function expandedText(text: string, links: readonly Link[]): string {
  const addresses = new Map(links.map(({ url, expandedUrl }) => [url, expandedUrl ?? url]));
  return text.replace(/https?:\/\/t\.co\/[A-Za-z0-9]+/g, (link) => addresses.get(link) ?? link);
}

/** The first link whose page X has read; null where there is none. The interface has no cards of its own. */
export function cardOf(links: readonly Link[]): Card | null {
  for (const { url, expandedUrl, record } of links) {
    const title = textOf(record['title']);
    if (title === undefined) continue;
    const description = textOf(record['description']);
    const image = recordOf((listOf(record['images']) ?? [])[0]);
    return {
      type: null,
      url: textOf(record['unwound_url']) ?? expandedUrl ?? url,
      title: unescaped(title),
      description: description === undefined ? null : unescaped(description),
      imageUrl: textOf(image?.['url']) ?? null,
    };
  }
  return null;
}
