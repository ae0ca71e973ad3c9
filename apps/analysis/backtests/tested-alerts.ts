import { Inject, Injectable } from '@nestjs/common';
import { isoFromClickHouse } from '#clickhouse';
import type { KeywordDefinition } from '#contracts';
import { isoOf } from '#kernel';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { alertRulesOf, type AlertRule } from '../alerts/alert-rules.js';
import { backtestAlerts } from '../alerts/backtest-alerts.js';
import { CountedSeries, type BinCount } from '../alerts/counted-series.js';
import type { KeywordSearch } from '../alerts/reached-windows.js';
import { MentionHistory } from '../alerts/mention-history.js';
import { binOf } from '../alerts/windows.js';
import { COUNTED_DAYS } from '../domain/counted-at.js';
import type { BacktestWindow } from './stored-mentions.js';
import type { TestedItem } from './tested-item.js';

/** How far before the window the counts of mentions are read, for the baselines. */
const HISTORY_MS = COUNTED_DAYS * 86_400_000;

/** An alert that would have fired, as the interface returns it. */
export interface TestedAlert {
  /** ISO 8601: the end of the window that reached the condition, or of the backtest if the window ends later. */
  at: string;
  kind: string;
  observed: number;
  baseline: number;
  /** Null for a spike alert. */
  ruleId: string | null;
  /** Null for a spike alert. */
  name: string | null;
}

interface TestedKeyword {
  timezone: string;
  created_at: Date;
  searches: KeywordSearch[] | null;
}

/** How the tested rules change the counts of mentions that alerts use. */
export class CountDifference {
  private readonly bins = new Map<string, BinCount>();

  add({ row, dropped, labels }: TestedItem): void {
    if (row.never_counted) return;
    const counts = !dropped && !labels.includes('hidden');
    // A person's labels replace the labels of rules in the row, and change no counts. Then only the tested labels can show
    // whether a rule hid the mention.
    const ofRules = Number(row.version) > 0 ? labels : row.labels;
    const counted = row.dropped_reason === '' && !(row.rules.length > 0 && ofRules.includes('hidden'));
    if (counts === counted) return;
    const [occurred, published] = [row.occurred_at, row.published_at ?? row.occurred_at];
    const at = binOf(Date.parse(isoFromClickHouse(published < occurred ? published : occurred)));
    const watchId = row.watch_id;
    const bin = this.bins.get(`${watchId} ${at}`) ?? {
      watchId,
      at,
      total: 0,
      negative: 0,
    };
    bin.total += counts ? 1 : -1;
    if (row.sentiment === 'negative') bin.negative += counts ? 1 : -1;
    this.bins.set(`${watchId} ${at}`, bin);
  }

  /** Returns the counts with the difference added, the earliest first. No count is negative. */
  appliedTo(counts: readonly BinCount[]): BinCount[] {
    const all = new Map(counts.map((bin) => [`${bin.watchId} ${bin.at}`, bin]));
    for (const { watchId, at, total, negative } of this.bins.values()) {
      const key = `${watchId} ${at}`;
      const known = all.get(key);
      all.set(key, {
        ...{ watchId, at, total: Math.max(0, (known?.total ?? 0) + total) },
        negative: Math.max(0, (known?.negative ?? 0) + negative),
      });
    }
    return [...all.values()].sort((a, b) => a.at - b.at);
  }
}

/** Finds the alerts that would have fired, with the code that evaluates live mentions. */
@Injectable()
export class TestedAlerts {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Evaluates the tested rules.
   * @param definition with the tested rules
   * @returns the alerts since the start of the window, the earliest first
   */
  async of(
    { keywordId, since, until }: BacktestWindow,
    definition: KeywordDefinition,
    difference: CountDifference,
  ): Promise<TestedAlert[]> {
    const rules = alertRulesOf(definition);
    const keyword = rules.length > 0 ? await this.keyword(keywordId) : undefined;
    if (!keyword) return [];
    const history = new MentionHistory(this.database);
    const counts = await history.recent(new Map([[keywordId, since.getTime() - HISTORY_MS]]));
    const found = await backtestAlerts(
      rules,
      {
        series: new CountedSeries(difference.appliedTo(counts.get(keywordId) ?? [])),
        searches: keyword.searches ?? [],
        coverage: await history.coverageOf(keywordId),
        timeZone: keyword.timezone,
        createdAt: keyword.created_at.getTime(),
      },
      since.getTime(),
    );
    return found.map(({ rule, to, observed, baseline }) => ({
      ...{ at: isoOf(Math.min(to, until.getTime())), kind: rule.condition.kind, observed, baseline },
      ...nameOf(rule),
    }));
  }

  private async keyword(keywordId: string): Promise<TestedKeyword | undefined> {
    const rows: TestedKeyword[] = await this.database.query(
      `SELECT a.timezone, k.created_at,
         (SELECT jsonb_agg(jsonb_build_object('watchId', w.watch_id, 'source', w.source)) FROM watches w
          WHERE w.keyword_id = k.keyword_id AND w.retired_at IS NULL AND NOT w.disabled) AS searches
       FROM keywords k JOIN accounts a USING (account_id) WHERE k.keyword_id = $1`,
      [keywordId],
    );
    return rows[0];
  }
}

function nameOf({ key, name, condition }: AlertRule): Pick<TestedAlert, 'ruleId' | 'name'> {
  return condition.kind === 'spike' ? { ruleId: null, name: null } : { ruleId: key, name };
}
