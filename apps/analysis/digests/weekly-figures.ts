import { Inject, Injectable } from '@nestjs/common';
import { DateTime } from 'luxon';
import { isoFromClickHouse, selectRows, type ClickHouseClient } from '#clickhouse';
import type { AlertData, WeeklyReport } from '#contracts';
import { CLICKHOUSE, DATABASE, sharedReportKey } from '#platform';
import type { Database } from '#postgres';
import { ReportAddresses } from '#secrets';
import { PUBLIC_URL } from '../config.js';
import { digestIdOf, type DigestTurn, type DuePeriod } from '../domain/digest-turn.js';

const DAYS = 7;
const MAX_NAMED = 10;
const MAX_ALERTS = 20;
const SENTIMENT = `if(corrected_sentiment != '', corrected_sentiment, sentiment)`;
/** Mentions that are counted: found before the end of the week, and not dropped, backfilled or hidden. */
const COUNTED = `account_id = {accountId: UUID} AND keyword_id = {keywordId: UUID}
  AND occurred_at < {until: DateTime64(3, 'UTC')} AND dropped_reason = '' AND NOT backfilled AND NOT has(labels, 'hidden')`;
const IN_WEEK = `${COUNTED} AND occurred_at >= {since: DateTime64(3, 'UTC')}`;

/** Computes the figures of weekly reports from the stored mentions and the events of alerts. */
@Injectable()
export class WeeklyFigures {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(PUBLIC_URL) private readonly publicUrl: string,
  ) {}

  /**
   * Returns the figures of the last seven days of a period. A day begins at the hour at which the period ends (09:00 in
   * the account's time zone), not at midnight.
   */
  async of(turn: DigestTurn, { to }: DuePeriod): Promise<WeeklyReport> {
    const { accountId, keywordId, timeZone } = turn;
    const end = DateTime.fromMillis(to, { zone: timeZone });
    const params = {
      accountId,
      keywordId,
      before: clickHouseTime(end.minus({ days: 2 * DAYS })),
      since: clickHouseTime(end.minus({ days: DAYS })),
      until: clickHouseTime(end),
    };
    const [volume, sentiment, sources, authors, stories, alerts] = await Promise.all([
      this.volume(params, end),
      this.sentiment(params),
      this.select<WeeklyReport['sources'][number]>(
        params,
        `SELECT source, toUInt32(count()) AS count FROM mentions FINAL WHERE ${IN_WEEK}
         GROUP BY source ORDER BY count DESC, source`,
      ),
      this.authors(params),
      this.stories(params),
      this.alerts(params),
    ]);
    const reportId = digestIdOf(turn);
    const url = await this.addressOf(reportId, to);
    return { reportId, url, volume, sentiment, sources, authors, stories, alerts };
  }

  /**
   * Returns the address of a report.
   * @throws Error if no gateway has started yet; the report is then assembled later
   */
  private async addressOf(reportId: string, periodTo: number): Promise<string> {
    const key = await sharedReportKey(this.database);
    if (key === undefined) throw new Error('no key for report addresses: no gateway has started yet');
    return new ReportAddresses(key, this.publicUrl).urlOf(reportId, periodTo);
  }

  private select<T>(params: Record<string, unknown>, query: string): Promise<T[]> {
    return selectRows<T>(this.clickhouse, query, params);
  }

  private async volume(params: Record<string, unknown>, end: DateTime): Promise<WeeklyReport['volume']> {
    const rows = await this.select<{ at: number; count: number }>(
      params,
      `SELECT toUnixTimestamp(toStartOfFifteenMinutes(occurred_at)) AS at, toUInt32(count()) AS count
       FROM mentions FINAL WHERE ${COUNTED} AND occurred_at >= {before: DateTime64(3, 'UTC')} GROUP BY at`,
    );
    const countOf = (day: DateTime) => {
      const [from, to] = [day.toSeconds(), day.plus({ days: 1 }).toSeconds()];
      return rows.reduce((sum, { at, count }) => (at >= from && at < to ? sum + count : sum), 0);
    };
    const days = Array.from({ length: DAYS }, (_, n) => {
      const day = end.minus({ days: DAYS - n });
      return {
        date: day.toISODate() ?? '',
        count: countOf(day),
        previous: countOf(day.minus({ days: DAYS })),
      };
    });
    return {
      count: days.reduce((sum, { count }) => sum + count, 0),
      previous: days.reduce((sum, { previous }) => sum + previous, 0),
      days,
    };
  }

  private async sentiment(params: Record<string, unknown>): Promise<WeeklyReport['sentiment']> {
    const rows = await this.select<{ value: string; count: number }>(
      params,
      `SELECT ${SENTIMENT} AS value, toUInt32(count()) AS count FROM mentions FINAL WHERE ${IN_WEEK} GROUP BY value`,
    );
    const countOf = (value: string) => rows.find((row) => row.value === value)?.count ?? 0;
    return {
      positive: countOf('positive'),
      neutral: countOf('neutral'),
      negative: countOf('negative'),
      mixed: countOf('mixed'),
      unread: countOf(''),
    };
  }

  private async authors(params: Record<string, unknown>): Promise<WeeklyReport['authors']> {
    const rows = await this.select<{ handle: string; source: string; count: number; is_vip: boolean }>(
      params,
      `SELECT assumeNotNull(author) AS handle, source, toUInt32(count()) AS count, max(vip) AS is_vip FROM mentions FINAL
       WHERE ${IN_WEEK} AND author IS NOT NULL
       GROUP BY handle, source ORDER BY count DESC, handle, source LIMIT ${MAX_NAMED}`,
    );
    return rows.map(({ handle, source, count, is_vip }) => ({ author: handle, source, count, vip: is_vip }));
  }

  private async stories(params: Record<string, unknown>): Promise<WeeklyReport['stories']> {
    const rows = await this.select<{ story_id: string; name: string; link: string; count: number }>(
      params,
      `SELECT story_id, argMin(if(title != '', title, substringUTF8(text, 1, 120)), occurred_at) AS name,
         argMin(url, occurred_at) AS link, toUInt32(count()) AS count
       FROM mentions FINAL WHERE ${IN_WEEK} AND story_id != ''
       GROUP BY story_id ORDER BY count DESC, story_id LIMIT ${MAX_NAMED}`,
    );
    return rows.map(({ story_id: storyId, name: title, link, count }) => ({
      storyId,
      title,
      url: link || null,
      count,
    }));
  }

  /** Alerts are events of the keyword itself. In the table of events, their watch id is the id of the keyword. */
  private async alerts(params: Record<string, unknown>): Promise<WeeklyReport['alerts']> {
    const rows = await this.select<{ at: string; envelope: string }>(
      params,
      `SELECT occurred_at AS at, any(e.envelope) AS envelope FROM events AS e
       WHERE watch_id = {keywordId: UUID} AND account_id = {accountId: UUID} AND type = 'keyword.alert_fired'
         AND occurred_at >= {since: DateTime64(3, 'UTC')} AND occurred_at < {until: DateTime64(3, 'UTC')}
       GROUP BY occurred_at, event_id ORDER BY at LIMIT ${MAX_ALERTS}`,
    );
    return rows.map(({ at, envelope }) => {
      const { rule, observed, baseline } = (JSON.parse(envelope) as { data: AlertData }).data;
      const name = 'spike' in rule ? `spike ${rule.spike}` : rule.name;
      return { at: isoFromClickHouse(at), name, observed, baseline };
    });
  }
}

function clickHouseTime(at: DateTime): string {
  return at.toUTC().toFormat('yyyy-MM-dd HH:mm:ss.SSS');
}
