import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { AgentStepSchema, KeywordDefinitionSchema, type AgentStep, type KeywordDefinition } from '#contracts';
import { applyMutes, vipOf, type Candidate } from '#matching';
import type { Database } from '#postgres';
import type { Treatment } from '../domain/event-of.js';

/** The current settings of a watch, from the tables. */
export interface WatchSettings {
  matchMode: string;
  /** Undefined for a watch without a keyword. */
  definition: KeywordDefinition | undefined;
  /** The words that the watch searches for: its query and its terms. */
  terms: readonly string[];
  /** The brands in the criteria of the search: `filters.brands` of ai_answers. */
  brands: readonly string[];
  /** True if sentiment and intent are read. */
  analysis: boolean;
  agentStep: AgentStep | undefined;
}

interface Row {
  watch_id: string;
  criteria: {
    match?: string;
    query?: string;
    terms?: string[];
    filters?: { brands?: string[] };
  };
  analysis: boolean;
  ai: JsonValue | null;
  definition: JsonValue | null;
}

/** Returns the settings of the watches. Purged watches are left out. */
export async function settingsOf(
  database: Database,
  watchIds: readonly string[],
): Promise<Map<string, WatchSettings>> {
  const rows: Row[] = await database.query(
    `SELECT w.watch_id, w.criteria, w.analysis, w.ai, k.definition
     FROM watches w LEFT JOIN keywords k USING (keyword_id) WHERE w.watch_id = ANY($1)`,
    [[...new Set(watchIds)]],
  );
  return new Map(
    rows.map((row) => [
      row.watch_id,
      {
        matchMode: row.criteria.match ?? '',
        terms: [row.criteria.query ?? '', ...(row.criteria.terms ?? [])].filter((term) => term.trim() !== ''),
        brands: row.criteria.filters?.brands ?? [],
        analysis: row.analysis,
        agentStep: row.ai ? fromJson(AgentStepSchema, row.ai, { ignoreUnknownFields: true }) : undefined,
        definition: row.definition
          ? fromJson(KeywordDefinitionSchema, row.definition, { ignoreUnknownFields: true })
          : undefined,
      },
    ]),
  );
}

/** Applies the keyword's mutes and VIPs to a matched item, and returns the result with its reasons. */
export function treat(
  item: Candidate,
  { matchMode, definition }: Pick<WatchSettings, 'matchMode' | 'definition'>,
): Treatment {
  if (!definition) return { dropped: undefined, vip: false, verdicts: [], matchMode };
  const { hit, verdicts } = applyMutes(definition.muteRules, item);
  const vip = vipOf(definition.vipAuthors, item);
  return {
    dropped: hit ? { reason: 'muted', rule: hit.value } : undefined,
    vip: vip !== undefined,
    verdicts: [
      ...verdicts.map((verdict) => ({
        step: 'mute',
        value: verdict.value,
        hit: verdict.outcome === 'muted',
        detail:
          verdict.outcome === 'other_source'
            ? `only on ${verdict.source}`
            : `${verdict.match} in ${verdict.target}`,
      })),
      ...definition.vipAuthors.map(({ handle }) => ({
        step: 'vip',
        value: handle,
        hit: handle === vip?.handle,
        detail: 'author',
      })),
    ],
    matchMode,
  };
}
