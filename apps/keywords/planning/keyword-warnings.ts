import { Inject, Injectable } from '@nestjs/common';
import { MAX_AGENT_TEXT_LENGTH, type KeywordDefinition, type SourceId } from '#contracts';
import type { Fault } from '#kernel';
import type { Tx } from '#postgres';
import type { SourceSetup } from '#sources';
import { SOURCES } from '../config.js';
import { plannedSearches, type PlannedSearch } from './planned-searches.js';

/**
 * Warns about parts of a keyword that have no effect, and about duplicate keywords. A keyword with warnings is not
 * refused.
 */
@Injectable()
export class KeywordWarnings {
  constructor(@Inject(SOURCES) private readonly sources: ReadonlyMap<SourceId, SourceSetup>) {}

  /**
   * @param keywordId id of the keyword itself, if it already exists
   * @returns warnings with paths as in the body, in camelCase
   */
  async of(tx: Tx, accountId: string, definition: KeywordDefinition, keywordId?: string): Promise<Fault[]> {
    const searches = plannedSearches(definition).filter(({ enabled }) => enabled);
    return [
      ...WITHOUT_EFFECT.flatMap(({ path, isUsed, message }) =>
        isUsed(definition) ? [{ path, message }] : [],
      ),
      ...longTextWarnings(definition),
      ...searches.flatMap((search) => this.ofSearch(search, definition)),
      ...(await duplicateWarnings(tx, accountId, searches, keywordId)),
    ].filter(isFirst);
  }

  private ofSearch({ source, criteria, searchId }: PlannedSearch, definition: KeywordDefinition): Fault[] {
    const read = this.sources.get(source)?.connector.filterKeys ?? [];
    const ignored = Object.keys(criteria.filters ?? {}).filter((key) => !read.includes(key));
    return ignored.flatMap((key) => {
      // Global filters apply to all sources. So a key that one source does not read is not a mistake if another source
      // of the keyword reads it.
      const path = pathOfFilter(definition, source, searchId, key);
      if (path.startsWith('globalCriteria') && this.isReadByAnother(definition, key)) return [];
      const message =
        read.length > 0
          ? `${source} does not read this filter; its filters are ${read.join(', ')}`
          : `${source} has no filters, so this filter has no effect`;
      return [{ path, message }];
    });
  }

  private isReadByAnother({ sources }: KeywordDefinition, key: string): boolean {
    return sources.some(({ source, enabled }) => {
      const read = this.sources.get(source as SourceId)?.connector.filterKeys;
      return enabled && read?.includes(key);
    });
  }
}

/** Keys that have no effect because of the keyword's other keys, each with its warning. */
const WITHOUT_EFFECT: readonly {
  path: string;
  isUsed(definition: KeywordDefinition): boolean;
  message: string;
}[] = [
  {
    path: 'webhookMode',
    isUsed: ({ webhookMode, rules }) =>
      webhookMode === 'rules' &&
      !rules.some(({ enabled, then }) => enabled && then.some(({ type }) => type === 'webhook')),
    message: 'no enabled rule has the action webhook: this mode sends no mentions',
  },
  {
    path: 'webhookEvents',
    isUsed: ({ webhookEvents, webhookUrl }) => webhookEvents.length > 0 && !webhookUrl,
    message: 'without a webhookUrl, these events are not sent',
  },
];

/** Warns about texts of the agent step whose `maxLength` is above the maximum. */
function longTextWarnings({ aiStep }: KeywordDefinition): Fault[] {
  return Object.entries(aiStep?.schema ?? {}).flatMap(([name, { type, maxLength = 0 }]) =>
    type === 'string' && maxLength > MAX_AGENT_TEXT_LENGTH
      ? [
          {
            path: 'aiStep.schema',
            message: `the maxLength of ${JSON.stringify(name)} counts as ${MAX_AGENT_TEXT_LENGTH}, the maximum`,
          },
        ]
      : [],
  );
}

function isFirst({ path, message }: Fault, index: number, all: readonly Fault[]): boolean {
  return all.findIndex((other) => other.path === path && other.message === message) === index;
}

/** Returns the path of a search's filter: in its overrides, or in the global criteria. */
function pathOfFilter(
  definition: KeywordDefinition,
  source: string,
  searchId: string | null,
  key: string,
): string {
  const index = definition.sources.findIndex((entry) => entry.source === source);
  const searches = definition.sources[index]?.searches ?? [];
  const n = searches.findIndex(({ id }) => (id || null) === searchId);
  const isOwn = n >= 0 && Object.hasOwn(searches[n]?.overrides?.filters ?? {}, key);
  return isOwn
    ? `sources[${index}].searches[${n}].overrides.filters.${key}`
    : `globalCriteria.filters.${key}`;
}

/**
 * Warns about another keyword with exactly the same enabled searches, even if the other keyword is paused: while both
 * run, each match is reported and charged twice.
 */
async function duplicateWarnings(
  tx: Tx,
  accountId: string,
  searches: readonly PlannedSearch[],
  keywordId: string | undefined,
): Promise<Fault[]> {
  const hashes = [...new Set(searches.map(({ criteriaHash }) => criteriaHash))].sort();
  const [hash] = hashes;
  if (hash === undefined) return [];
  // Usually no other keyword has the first search. So a cheap statement looks for this search first: the statement that
  // compares all searches costs five times as much.
  const candidates: { keyword_id: string }[] = await tx.query(
    `SELECT DISTINCT keyword_id FROM watches
     WHERE account_id = $1 AND criteria_hash = $2 AND retired_at IS NULL AND keyword_id IS DISTINCT FROM $3`,
    [accountId, hash, keywordId ?? null],
  );
  if (candidates.length === 0) return [];
  const rows: { keyword_id: string; name: string }[] = await tx.query(
    `SELECT k.keyword_id, k.name FROM keywords k CROSS JOIN LATERAL (
       SELECT array_agg(DISTINCT w.criteria_hash ORDER BY w.criteria_hash) AS hashes FROM watches w
       WHERE w.keyword_id = k.keyword_id AND w.retired_at IS NULL AND NOT w.disabled) AS own
     WHERE k.account_id = $1 AND k.keyword_id = ANY ($3) AND k.state <> 'retired' AND own.hashes = $2::text[]
     ORDER BY k.keyword_id LIMIT 1`,
    [accountId, hashes, candidates.map(({ keyword_id }) => keyword_id)],
  );
  return rows.map(({ keyword_id, name }) => ({
    path: '',
    message: `the keyword ${JSON.stringify(name)} (${keyword_id}) has the same searches: while both run, each match is reported and charged twice`,
  }));
}
