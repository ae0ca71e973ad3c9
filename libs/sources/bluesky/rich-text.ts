import { isShortenedFormOf } from '../shared/html-text.js';
import { listOf, numberOf, recordOf, textOf } from '../shared/shape.js';

interface Link {
  start: number;
  end: number;
  uri: string;
}

/**
 * Returns a post's text with complete links. Clients shorten a link in the text ("example.com/lo…"), and send its
 * address in a facet: a mark for a part of the text. If the link has other words, its address follows them in
 * parentheses. The positions in facets are bytes of UTF-8. Facets that are outside the text or overlap an earlier facet
 * are ignored.
 */
export function textWithLinks(text: string, facets: unknown): string {
  const links = linksOf(facets);
  if (links.length === 0) return text;
  const bytes = Buffer.from(text, 'utf8');
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, uri } of links) {
    if (start < done || end <= start || end > bytes.length) continue;
    const shown = bytes.subarray(start, end).toString('utf8');
    parts.push(
      bytes.subarray(done, start).toString('utf8'),
      isShortenedFormOf(shown, uri) ? uri : `${shown} (${uri})`,
    );
    done = end;
  }
  parts.push(bytes.subarray(done).toString('utf8'));
  return parts.join('');
}

/** Returns the addresses of the links in a post's facets, each once, in the order of the text. */
export function linkAddresses(facets: unknown): string[] {
  return [...new Set(linksOf(facets).map(({ uri }) => uri))];
}

function linksOf(facets: unknown): Link[] {
  const links = (listOf(facets) ?? []).flatMap((entry) => {
    const facet = recordOf(entry);
    const index = recordOf(facet?.['index']);
    const [start, end] = [numberOf(index?.['byteStart']), numberOf(index?.['byteEnd'])];
    const feature = (listOf(facet?.['features']) ?? [])
      .map(recordOf)
      .find((one) => one?.['$type'] === 'app.bsky.richtext.facet#link');
    const uri = textOf(feature?.['uri']);
    return start === undefined || end === undefined || uri === undefined ? [] : [{ start, end, uri }];
  });
  return links.sort((a, b) => a.start - b.start);
}
