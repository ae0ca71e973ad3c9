import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CheckSchema,
  CriteriaSchema,
  ItemSchema,
  KeywordDecisionSchema,
  type Check,
  type Item,
  type MatchMode,
} from '#contracts';
import { criteriaHash } from '#criteria';
import { EventStore } from '#event-store';
import type { OutboundHttp } from '#http-out';
import { isoOf, newId, systemClock } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database, type Tx } from '#postgres';
import { applyNext } from '#projections';
import type { SourceConnector } from '#sources';
import { createLogger, currentTraceparent } from '#telemetry';
import { fundAccount, isolateStores } from '#testing';
import type { PricedCheck } from '../record/build-checks.js';
import { checkPriceOf } from '../read/check-price.js';
import { CheckRecorder } from '../record/check-recorder.js';
import type { DueSearch, DueWatch } from '../due/due-work.js';
import { dueLanes } from '../due/due-lanes.js';
import { LaneWorker } from '../lanes/lane-worker.js';
import { Lane } from '../lanes/lane.js';
import { NOTHING_LEARNED, type LaneMemory } from '../lanes/lane-memory.js';
import { scheduleProjection } from '../projections/schedule.projection.js';

// For specs only: due work in real stores, and an upstream that a spec fills.

const log = createLogger('spec', 'silent');

/** Stores with due work. */
export interface PollingStores {
  database: Database;
  bus: Bus;
  store: EventStore;
  /**
   * Schedules a watch without a keyword, as the projection of KEYWORDS does. No worker claims the watch before `due` is
   * called.
   */
  watch(more?: WatchInit): Promise<string>;
  /** Returns the reservations of the accounts: credits by id. */
  reservations(): Promise<Record<string, number>>;
  /** Pauses or resumes a watch, or changes its interval. */
  change(watchId: string, change: { isActive?: boolean; intervalSeconds?: number }): Promise<void>;
  /** Makes the next check of these watches due now; no other watch is due then. */
  due(...watchIds: string[]): Promise<void>;
  /** Returns the checks of a watch in the stream. */
  checksOf(watchId: string): Promise<Check[]>;
  drop(): Promise<void>;
}

/** The differences of a watch from the default one: `acme`, every 600 s, with a new account. */
export interface WatchInit {
  accountId?: string;
  query?: string;
  intervalSeconds?: number;
  backfill?: boolean;
  match?: MatchMode;
  /** The credits of the watch's account; by default more than enough. */
  credits?: number;
}

/** A watch that is not due has its next check after this time, which is too short for `bringForwardFar`. */
const NOT_DUE = '30 minutes';
const NEXT_OF_SEARCHES = `UPDATE upstream_searches s SET next_due_at =
  (SELECT time_of(min(due_second)) FROM watch_schedule w WHERE w.search_number = s.search_number)`;

/** Opens separate stores for a spec. */
export async function openPollingStores(lanes = 1): Promise<PollingStores> {
  const stores = await isolateStores();
  const database = await openDatabase(stores.databaseUrl, 'spec');
  const bus = await connectBus(stores.natsUrl, 'spec', log);
  const store = new EventStore(bus);
  const projection = scheduleProjection(() => lanes);
  const accounts = new Map<string, string>();
  // Every call of `due` uses another second, because two checks of a watch never have the same tick.
  let tick = Date.now() - 600_000;

  const project = (tx: Tx, accountId: string, subjectId: string, event: Parameters<typeof decisionOf>[2]) =>
    applyNext(tx, projection, {
      subject: subjectId,
      seq: 1,
      predecessor: 0,
      data: decisionOf(accountId, subjectId, event),
      cause: currentTraceparent(),
    });

  return {
    database,
    bus,
    store,
    async watch(init = {}) {
      const { accountId = newId(), query = 'acme', intervalSeconds = 600, backfill = false, match } = init;
      const { credits = 1_000_000 } = init;
      const watchId = newId();
      const criteria = create(CriteriaSchema, { market: 'global', query, ...(match && { match }) });
      const hash = criteriaHash('hackernews', criteria);
      const watch = {
        watchId,
        source: 'hackernews',
        criteria,
        criteriaHash: hash,
        intervalSeconds,
        backfill,
      };
      accounts.set(watchId, accountId);
      await fundAccount(database, accountId, credits);
      await database.transaction(async (tx) => {
        await project(tx, accountId, watchId, { case: 'watchCreated', value: { watch } });
        await tx.query(
          `UPDATE watch_schedule SET due_second = second_of(now() + interval '${NOT_DUE}') WHERE watch_id = $1`,
          [watchId],
        );
        await tx.query(`${NEXT_OF_SEARCHES} WHERE search_key = $1`, [`hackernews:${hash}`]);
      });
      return watchId;
    },
    async reservations() {
      const rows: { reservation_id: string; amount: number }[] = await database.query(
        'SELECT reservation_id, amount FROM credit_reservations WHERE expires_at > now()',
      );
      return Object.fromEntries(rows.map((row) => [row.reservation_id, row.amount]));
    },
    change: (watchId, change) =>
      database.transaction((tx) => project(tx, '', watchId, { case: 'watchChanged', value: change })),
    async due(...watchIds) {
      tick += 1000;
      await database.query(
        `UPDATE watch_schedule SET due_second = second_of(now() + interval '${NOT_DUE}') WHERE watch_id <> ALL($1)`,
        [watchIds],
      );
      await database.query('UPDATE watch_schedule SET due_second = second_of($2) WHERE watch_id = ANY($1)', [
        watchIds,
        new Date(tick),
      ]);
      await database.query(NEXT_OF_SEARCHES);
    },
    async checksOf(watchId) {
      const stored = await store.read('CHECKS', subjectOf('CHECKS', accounts.get(watchId) ?? '', watchId));
      return stored.map(({ data }) => fromBinary(CheckSchema, data));
    },
    async drop() {
      await bus.close();
      await database.destroy();
      await stores.drop();
    },
  };
}

function decisionOf(
  accountId: string,
  subjectId: string,
  event:
    | { case: 'watchCreated'; value: { watch: object } }
    | { case: 'watchChanged'; value: { isActive?: boolean; intervalSeconds?: number } },
): Uint8Array {
  const decidedAt = isoOf(systemClock.now());
  return toBinary(
    KeywordDecisionSchema,
    create(KeywordDecisionSchema, {
      commandId: newId(),
      accountId,
      subjectId,
      decidedAt,
      events: [{ event }],
    }),
  );
}

/** An upstream with published items. It records every request. */
export class Upstream {
  readonly items: Item[] = [];
  /** The time of each request, in ms since the epoch. */
  requests: number[] = [];
  /** The response instead of 200. */
  failure: { status: number; headers?: Record<string, string> } | undefined;
  /** The `Date` of the responses, if they have one. */
  date: (() => Date) | undefined;
  /** The connector's state that each read received. Each read stores its number under `mark` and `history`. */
  states: Record<string, unknown>[] = [];
  /** Requests wait until this promise resolves. */
  gate: Promise<void> = Promise.resolve();
  requestsPerMinute = 600_000;
  /** Duration of a response, in ms. */
  answerMs = 0;
  /** Whether the upstream has a feed, which always responds immediately. */
  hasFeed = false;
  /** Number of requests of a read of the feed. */
  feedPages = 0;
  /** Returns the number of requests to read so many seconds of the feed. */
  pagesFor: (windowSeconds: number) => number = () => this.feedPages;
  /** Whether our clock dates what the source reports. */
  datesByOurClock = false;
  /** After this many seconds without a new item, the feed counts as frozen. */
  quietSeconds = 3_600;
  /** False: the source has no search, so only whole words are matched. */
  hasSearch = true;
  /**
   * If set, every search names the server `named.example.org`. A search whose query begins with `slow` gets its
   * response when the promise resolves.
   */
  slowServers: Promise<void> | undefined;
  /** Returns the maximum units of a check each time a price is computed. If it is set, every read states nine units. */
  unitsPerCheck: (() => number) | undefined;
  /** Number of items on the one page that a first check reads. */
  pageSize = Infinity;

  /** Publishes an item now. */
  publish(itemId: string, text = 'all about acme', publishedAt = isoOf(systemClock.now())): void {
    this.items.unshift(
      create(ItemSchema, {
        itemId,
        source: 'hackernews',
        eventType: 'hn_item.created',
        text,
        publishedAt,
        bodyJson: '{}',
      }),
    );
  }

  readonly http: OutboundHttp = {
    request: async (request) => {
      this.requests.push(Date.now());
      await this.gate;
      await wait(this.answerMs);
      const { status, headers } = this.failure ?? { status: 200 };
      const date = this.date && { date: this.date().toUTCString() };
      return { status, headers: { ...date, ...headers }, bytes: Buffer.from('{}'), url: request.url };
    },
    close: () => Promise.resolve(),
  };

  /** Reads newest first, until `since` or an item that every watch has seen, like real connectors. */
  get connector(): SourceConnector {
    return {
      id: 'hackernews',
      requiredSettings: [],
      filterKeys: [],
      hasSearch: this.hasSearch,
      commonGrid: true,
      budget: { requestsPerMinute: this.requestsPerMinute, concurrency: 4, backoff: 'lane' },
      checkCriteria: () => [],
      ...(this.slowServers && {
        namedServers: () => [{ path: 'filters.feed_urls', url: 'https://named.example.org/' }],
      }),
      requestsPerSearch: () => 1,
      ...(this.unitsPerCheck && { unitsPerCheck: this.unitsPerCheck }),
      ...(this.datesByOurClock && { datesByOurClock: true as const }),
      ...(this.hasFeed && {
        feed: {
          pagesFor: (windowSeconds) => this.pagesFor(windowSeconds),
          quietSeconds: this.quietSeconds,
          read: (since) =>
            Promise.resolve({
              items: this.items.filter(({ publishedAt }) => Date.parse(publishedAt ?? '') >= since.getTime()),
              gap: false,
              warnings: [],
            }),
        },
      }),
      search: async ({ query }, { http, since, known, state }) => {
        this.states.push(structuredClone(state));
        Object.assign(state, { mark: this.states.length, history: this.states.length });
        if (query?.startsWith('slow')) await this.slowServers;
        await http.json({ url: 'https://upstream.example.org/search' });
        const end = this.items.findIndex(
          ({ itemId, publishedAt }) =>
            known(itemId) || (since && Date.parse(publishedAt ?? '') < since.getTime()),
        );
        const items = end < 0 ? this.items : this.items.slice(0, end);
        const page = items.slice(0, since ? undefined : this.pageSize);
        return { items: page, gap: false, warnings: [], ...(this.unitsPerCheck && { units: 9 }) };
      },
    };
  }
}

/** Returns the check of a watch with its price, for a source with one priced part. */
export function priced(search: DueSearch, watch: DueWatch): PricedCheck {
  return { search, watch, price: checkPriceOf({}, search, watch), matchMode: search.match };
}

/**
 * Returns a worker on the first lane of the upstream. `learned`: what the lane has stored about its upstream, oldest
 * first.
 */
export function workerOn(
  upstream: Upstream,
  { database, store }: PollingStores,
): { worker: LaneWorker; lane: Lane; recorder: CheckRecorder; learned: LaneMemory[] } {
  const learned: LaneMemory[] = [];
  const lane = new Lane({
    name: 'hackernews:0',
    connector: upstream.connector,
    baseUrl: undefined,
    http: upstream.http,
    lanes: 1,
    memory: NOTHING_LEARNED,
    remember: async (memory) => void learned.push(memory),
  });
  const recorder = new CheckRecorder(database, store, () => Date.now());
  const worker = new LaneWorker(lane, database, dueLanes(database), recorder, systemClock, 20, log);
  return { lane, recorder, worker, learned };
}
