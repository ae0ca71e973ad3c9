import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { RuleSchema, type Rule } from '#contracts';
import type { Database } from '#postgres';
import { alertRulesOf, isKnownCondition, isSpikeLevel, SPIKE_KEY, type AlertRule } from './alert-rules.js';
import type { Episode } from './episode.js';
import type { KeywordSearch } from './reached-windows.js';

/** A keyword with its alerts, and the last episode of each alert. */
export interface AlertKeyword {
  keywordId: string;
  accountId: string;
  /** Changes with each change of the rules or searches. */
  version: number;
  timeZone: string;
  /** In ms. */
  createdAt: number;
  rules: AlertRule[];
  /** The keys of alerts that this release does not know, because a newer release stored them. They never fire. */
  unknown: string[];
  searches: KeywordSearch[];
  episodes: ReadonlyMap<string, Episode & { alertId: string }>;
}

/** Is called for each alert that this release does not know. `ruleId` is `spike` for a spike alert. */
export type ReportUnknown = (keywordId: string, ruleId: string, error: unknown) => void;

interface KeywordRow {
  keyword_id: string;
  account_id: string;
  version: number;
  timezone: string;
  created_at: Date;
  rules: JsonValue[] | null;
  spike_alert: string | null;
  searches: KeywordSearch[] | null;
  episodes: { key: string; alertId: string; firedAt: string; aboveUntil: string; ended: boolean }[] | null;
}

/** Returns the keywords that exist and are not retired. */
export async function keywordsOf(
  database: Database,
  ids: readonly string[],
  reportUnknown: ReportUnknown,
): Promise<Map<string, AlertKeyword>> {
  const rows: KeywordRow[] = await database.query(
    `SELECT k.keyword_id, k.account_id, k.version, a.timezone, k.created_at, k.definition->'rules' AS rules,
       k.definition->>'spikeAlert' AS spike_alert,
       (SELECT jsonb_agg(jsonb_build_object('watchId', w.watch_id, 'source', w.source)) FROM watches w
        WHERE w.keyword_id = k.keyword_id AND w.retired_at IS NULL AND NOT w.disabled) AS searches,
       (SELECT jsonb_agg(jsonb_build_object('key', e.key, 'alertId', e.alert_id, 'firedAt', e.fired_at,
          'aboveUntil', e.above_until, 'ended', e.ended)) FROM alert_episodes e
        WHERE e.keyword_id = k.keyword_id) AS episodes
     FROM keywords k JOIN accounts a USING (account_id)
     WHERE k.keyword_id = ANY ($1) AND k.state <> 'retired'`,
    [ids],
  );
  return new Map(rows.map((row) => [row.keyword_id, keywordOf(row, reportUnknown)]));
}

function keywordOf(row: KeywordRow, reportUnknown: ReportUnknown): AlertKeyword {
  const unknown: string[] = [];
  const isUnknown = (key: string, error: unknown) => {
    unknown.push(key);
    reportUnknown(row.keyword_id, key, error);
  };
  const rules = (row.rules ?? []).flatMap((json): Rule[] => {
    try {
      return [ruleOf(json)];
    } catch (error) {
      isUnknown(String((json as { id?: JsonValue } | null)?.id), error);
      return [];
    }
  });
  const spikeAlert = row.spike_alert ?? '';
  if (spikeAlert !== '' && !isSpikeLevel(spikeAlert))
    isUnknown(SPIKE_KEY, new Error(`unknown sensitivity ${spikeAlert}`));
  return {
    keywordId: row.keyword_id,
    accountId: row.account_id,
    version: row.version,
    timeZone: row.timezone,
    createdAt: row.created_at.getTime(),
    rules: alertRulesOf({ rules, spikeAlert }),
    unknown,
    searches: row.searches ?? [],
    episodes: new Map(
      (row.episodes ?? []).map(({ key, alertId, firedAt, aboveUntil, ended }) => [
        key,
        { alertId, firedAt: Date.parse(firedAt), aboveUntil: Date.parse(aboveUntil), ended },
      ]),
    ),
  };
}

/** @throws Error if a newer release stored the rule, and this release cannot decode it or does not know its condition */
function ruleOf(json: JsonValue): Rule {
  const rule = fromJson(RuleSchema, json, { ignoreUnknownFields: true });
  if (rule.enabled && !isKnownCondition(rule.when))
    throw new Error(`unknown condition ${JSON.stringify(rule.when)}`);
  return rule;
}
