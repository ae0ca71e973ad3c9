import { create, fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import PQueue from 'p-queue';
import {
  KeywordDefinitionSchema,
  RanBacktestSchema,
  type KeywordDefinition,
  type ReadBacktest,
  type RunBacktest,
} from '#contracts';
import { derivedId, isoOf, Refusal, systemClock } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { CommandPattern } from '#transport';
import { backtestPage } from './backtest-page.js';
import { BacktestSummary } from './backtest-summary.js';
import { StoredMentions, type BacktestWindow } from './stored-mentions.js';
import { TestedAlerts } from './tested-alerts.js';

const DAY_MS = 86_400_000;
/** How far back a backtest can begin. */
const MAX_DAYS = 90;
/** Maximum number of mentions that are tested: the newest of the window. */
const MAX_ITEMS = 200_000;
/** Maximum number of mentions that are tested if each must be embedded. This takes two milliseconds for each mention. */
const MAX_EMBEDDED_ITEMS = 5_000;
/** The pages of a backtest can be read for this time. */
const KEPT_HOURS = 24;
/**
 * Number of mentions that a search reads and tests together if no mention must be embedded. A search reads a page that
 * shows only mentions for which a rule fires or fired. The number is large, because a rule can fire for only a few
 * mentions.
 */
const SEARCHED_TOGETHER = 1_000;
/** Maximum number of backtests that wait or run. The gateway waits two minutes for each. */
const MAX_WAITING = 20;
/**
 * A backtest that waited longer is refused: it would probably end after the gateway has left, and the backtests behind
 * it would end too late as well.
 */
const BEGIN_WITHIN_MS = 60_000;

interface Row {
  definition: JsonValue;
  since: Date;
  until: Date;
}

/**
 * Tests a changed definition of a keyword on its stored mentions. Only the definition and the window are stored; the
 * items are computed for each page.
 */
@Controller()
export class BacktestsHandler {
  /** Runs one backtest at a time, because each keeps the processor busy. */
  private readonly queue = new PQueue({ concurrency: 1 });
  /** Accounts with a backtest that waits or runs in this process. */
  private readonly busy = new Set<string>();
  /**
   * Accounts for which this process runs a search. A search reads a page that shows only mentions for which a rule
   * fires or fired.
   */
  private readonly searching = new Set<string>();

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly mentions: StoredMentions,
    private readonly alerts: TestedAlerts,
  ) {}

  /**
   * Runs a backtest.
   * @throws Refusal `not-found` for a keyword that was purged meanwhile; `too-many` while another backtest of the
   *   account waits or runs in this process; `unavailable` while too many backtests wait or run in this process, and
   *   after a wait of a minute
   */
  @CommandPattern(COMMANDS.runBacktest)
  async run(command: RunBacktest) {
    const { accountId } = command;
    if (this.busy.has(accountId))
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        'another backtest of this account is running; wait for it',
      );
    if (this.busy.size >= MAX_WAITING) throw tooMany();
    this.busy.add(accountId);
    try {
      return await this.backtest(command);
    } finally {
      this.busy.delete(accountId);
    }
  }

  private async backtest(command: RunBacktest) {
    const { accountId, keywordId, commandId } = command;
    const asked = performance.now();
    const definition = withRuleIds(command.definition!, commandId);
    const now = systemClock.now();
    const since = new Date(Math.max(Date.parse(command.since), now.getTime() - MAX_DAYS * DAY_MS));
    const window = await this.limited({ accountId, keywordId, since, until: now }, definition);
    await this.store(commandId, window, definition);
    const { summary, alerts } = await this.queue.add(
      async () => {
        if (performance.now() - asked > BEGIN_WITHIN_MS) throw tooMany();
        const counted = await this.summary(window, definition);
        return { summary: counted, alerts: await this.alerts.of(window, definition, counted.difference) };
      },
      { throwOnTimeout: true },
    );
    const { since: from, until: to } = window;
    const body = { window: { from: isoOf(from), to: isoOf(to) }, ...summary.view(definition, alerts) };
    return create(RanBacktestSchema, { bodyJson: JSON.stringify(body) });
  }

  /**
   * Returns a page of a backtest.
   * @throws Refusal `not-found` for an unknown backtest, and for a backtest that is older than a day; `too-many` while
   *   this process runs another search of the account
   */
  @CommandPattern(COMMANDS.readBacktest)
  async read(page: ReadBacktest) {
    const { accountId, onlyFired } = page;
    if (!onlyFired) return this.page(page);
    // A search tests thousands of mentions. It can also embed hundreds of texts, on the thread that reads new items.
    if (this.searching.has(accountId))
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        'another page of this account is being searched; wait for it',
      );
    this.searching.add(accountId);
    try {
      return await this.page(page);
    } finally {
      this.searching.delete(accountId);
    }
  }

  private async page({ accountId, keywordId, backtestId, limit, afterAt, afterId, onlyFired }: ReadBacktest) {
    const rows: Row[] = await this.database.query(
      `SELECT definition, since, until FROM backtests
       WHERE backtest_id = $1 AND account_id = $2 AND keyword_id = $3
         AND created_at > now() - make_interval(hours => ${KEPT_HOURS})`,
      [backtestId, accountId, keywordId],
    );
    const [row] = rows;
    if (!row) throw Refusal.notFound('backtest');
    const definition = fromJson(KeywordDefinitionSchema, row.definition, { ignoreUnknownFields: true });
    const window = { accountId, keywordId, since: row.since, until: row.until };
    const after = afterId === '' ? undefined : { at: afterAt, id: afterId };
    const together = onlyFired && !this.mentions.embedsEach(definition) ? SEARCHED_TOGETHER : limit + 1;
    return backtestPage(this.mentions.testNewestFirst(window, definition, after, together), limit, onlyFired);
  }

  private async summary(window: BacktestWindow, definition: KeywordDefinition): Promise<BacktestSummary> {
    const summary = new BacktestSummary();
    for await (const items of this.mentions.testAll(window, definition)) {
      for (const item of items) summary.count(item);
      // Rules run on the main thread, so other work must be able to run between two parts.
      await new Promise(setImmediate);
    }
    return summary;
  }

  /** Returns a window with at most as many mentions as a backtest tests: if there are more, the window begins later. */
  private async limited(window: BacktestWindow, definition: KeywordDefinition): Promise<BacktestWindow> {
    const max = this.mentions.embedsEach(definition) ? MAX_EMBEDDED_ITEMS : MAX_ITEMS;
    const at = await this.mentions.timeAtOffset(window, max);
    return at === undefined
      ? window
      : { ...window, since: new Date(Date.parse(`${at.replace(' ', 'T')}Z`) + 1) };
  }

  private async store(id: string, window: BacktestWindow, definition: KeywordDefinition): Promise<void> {
    const { accountId, keywordId, since, until } = window;
    await this.database.query(
      `DELETE FROM backtests WHERE created_at < now() - make_interval(hours => ${KEPT_HOURS})`,
    );
    const stored: unknown[] = await this.database.query(
      `INSERT INTO backtests (backtest_id, account_id, keyword_id, definition, since, until)
       SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (SELECT 1 FROM keywords WHERE keyword_id = $3 AND account_id = $2)
       ON CONFLICT (backtest_id) DO UPDATE SET since = excluded.since, until = excluded.until
       RETURNING backtest_id`,
      [id, accountId, keywordId, JSON.stringify(toJson(KeywordDefinitionSchema, definition)), since, until],
    );
    if (stored.length === 0) throw Refusal.notFound('keyword');
  }
}

function tooMany(): Refusal {
  return Refusal.unavailable('too many backtests are running; try again later');
}

/** Gives an id to each rule that has none, because the backtest counts by the ids of rules. */
function withRuleIds(definition: KeywordDefinition, backtestId: string): KeywordDefinition {
  const rules = definition.rules.map((rule, index) =>
    rule.id === '' ? { ...rule, id: derivedId('backtest-rule', backtestId, String(index)) } : rule,
  );
  return { ...definition, rules };
}
