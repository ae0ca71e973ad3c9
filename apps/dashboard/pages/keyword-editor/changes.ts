import type { Source } from '../../api/types.js';
import { words } from '../../parts/format.js';
import { sourceName } from '../../parts/source.js';
import type { KeywordBody } from './draft.js';

/** A changed key of a keyword, before and after. */
export interface Change {
  key: keyof KeywordBody;
  label: string;
  before: string;
  after: string;
}

/** The keys whose values differ. */
export function changesOf(before: KeywordBody, after: KeywordBody): Change[] {
  return (Object.keys(after) as (keyof KeywordBody)[])
    .filter((key) => canonical(before[key]) !== canonical(after[key]))
    .map((key) => ({ key, label: labelOf(key), before: textOf(before[key]), after: textOf(after[key]) }));
}

/** The part of a body that has changed: what a PATCH sends. */
export const changedPart = (before: KeywordBody, after: KeywordBody): Partial<KeywordBody> =>
  Object.fromEntries(changesOf(before, after).map(({ key }) => [key, after[key]]));

/** A search as an estimate states it. */
interface NormalizedSource {
  source: Source;
  searches: readonly { id: string | null; label: string | null; resolvedCriteria: unknown }[];
}

/**
 * The searches that would start over: their criteria differ, so that the next check is a silent first one.
 * @returns one name for each, such as `Reddit: Complaints`
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

function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** `refreshIntervalSeconds` → “Refresh interval seconds” */
const labelOf = (key: string) => words(key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.length === 0) return 'none';
  return typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value);
}
