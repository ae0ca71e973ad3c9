import type { Source } from '../../api/types.js';
import { canonical, changedKeys } from '../../parts/changed-part.js';
import { sourceName } from '../../parts/source.js';
import type { KeywordBody } from './draft.js';
import { labelOf, readableValue, type NameOf } from './readable-value.js';

/** A changed key of a keyword, before and after. */
export interface Change {
  key: keyof KeywordBody;
  label: string;
  before: string;
  after: string;
}

/**
 * Returns the keys whose values differ.
 * @param channelName returns the name of a channel
 */
export function changesOf(
  before: KeywordBody,
  after: KeywordBody,
  channelName: (id: string) => string,
): Change[] {
  const nameOf: NameOf = (key, value) => {
    if (key === 'source' || key === 'sources') return sourceName(value as Source);
    return key === 'channelId' || key === 'channelIds' ? channelName(value) : undefined;
  };
  return changedKeys(before, after).map((key) => ({
    ...{ key, label: labelOf(key) },
    before: readableValue(key, before[key], nameOf),
    after: readableValue(key, after[key], nameOf),
  }));
}

/** A source in an estimate, with its searches. */
interface NormalizedSource {
  source: Source;
  searches: readonly { id: string | null; label: string | null; resolvedCriteria: unknown }[];
}

/**
 * Finds the searches that would start over because their criteria differ. Their next check is a first check, which
 * reports nothing.
 * @returns the names of these searches, such as `Reddit: Complaints`
 */
export function startingOver(
  before: readonly NormalizedSource[],
  after: readonly NormalizedSource[],
): string[] {
  const known = searchesOf(before);
  return [...searchesOf(after)]
    .filter(([key, { criteria }]) => known.has(key) && known.get(key)?.criteria !== criteria)
    .map(([, { name }]) => name);
}

function searchesOf(sources: readonly NormalizedSource[]): Map<string, { criteria: string; name: string }> {
  return new Map(
    sources.flatMap(({ source, searches }) =>
      searches.map(({ id, label, resolvedCriteria }, index) => [
        `${source}|${id ?? index}`,
        {
          criteria: canonical(resolvedCriteria),
          name: [sourceName(source), label].filter(Boolean).join(': '),
        },
      ]),
    ),
  );
}
