import { unescaped } from '../shared/escaped-text.js';
import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';

/** A link of a text. */
export interface Link {
  /** The link in the text: `https://t.co/…`. */
  url: string;
  expandedUrl: string | undefined;
  displayUrl: string | undefined;
  record: JsonRecord;
}

/** The target of a link. */
export type Card = {
  /** X does not send the kind of card that its clients show. */
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

/** Replaces X's short links in the text by their addresses. A link whose address is unknown stays unchanged. */
export function expandedText(text: string, links: readonly Link[]): string {
  const addresses = new Map(links.map(({ url, expandedUrl }) => [url, expandedUrl ?? url]));
  return text.replace(/https?:\/\/t\.co\/[A-Za-z0-9]+/g, (link) => addresses.get(link) ?? link);
}

/**
 * Builds a card from the first link with a title, because the API sends no cards. Returns null if no link has a title.
 */
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
