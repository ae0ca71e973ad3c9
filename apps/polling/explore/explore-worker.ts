import { create, toBinary } from '@bufbuild/protobuf';
import {
  creditsPerExploredSource,
  CriteriaSchema,
  ItemSchema,
  PRICE_BOOK_VERSION,
  type Criteria,
  type Item,
} from '#contracts';
import { keepUntilCharged, release } from '#credits';
import type { EventStore } from '#event-store';
import { derivedId, exploredIdOf, failpoint, isoOf, Repeated, systemClock } from '#kernel';
import { compile } from '#matching';
import type { Database } from '#postgres';
import { UpstreamError, type Fetched } from '#sources';
import type { Logger } from '#telemetry';
import type { SharedQuery } from '../due/shared-query.js';
import type { Lane } from '../lanes/lane.js';
import { LaneBlocked } from '../lanes/request-budget.js';
import { ExploreDecisions } from './explore-decisions.js';
import { claimJob, giveJobBack, releaseJobs, type ExploreJob } from './explore-jobs.js';

/** A source fails if it has not answered within this time, for example because no replica holds its lane. */
const MAX_WAIT_MS = 30 * 60_000;
/**
 * The reservation of a source lasts this long: longer than `MAX_WAIT_MS`, so that the credits stay reserved until the
 * source has answered or failed.
 */
export const EXPLORE_RESERVED_SECONDS = 3600;
/**
 * Checks come before Explores. After this time, an Explore asks its source even if the lane has checks to do. If the
 * lane is blocked for this time or longer, the source fails.
 */
const BEHIND_CHECKS_MS = 60_000;
const NOT_YET_MS = 1000;
/** Maximum size of one message of items. */
const MESSAGE_BYTES = 512 * 1024;
/**
 * Maximum number of pages that are read from a search. (`PAGE_CAP_WITHOUT_SEARCH`: from the list of newest posts, if
 * the source has no search.)
 */
const PAGE_CAP = 2;
const PAGE_CAP_WITHOUT_SEARCH = 5;
const RECENT_MS = 7 * 24 * 3_600_000;

/** Asks one source the questions of Explores, on its lane, after the scheduled checks. */
export class ExploreWorker {
  private readonly decisions: ExploreDecisions;
  private readonly work: Repeated;
  private hasLane = false;

  /**
   * @param isIdle whether the lane has no checks to do
   * @param queued finds out whether a source has jobs that can be claimed now
   */
  constructor(
    private readonly lane: Lane,
    private readonly isIdle: () => boolean,
    private readonly queued: SharedQuery,
    private readonly database: Database,
    store: EventStore,
    log: Logger,
    pauseMs: number,
  ) {
    this.decisions = new ExploreDecisions(database, store);
    this.work = new Repeated({
      pauseMs: Math.max(pauseMs, 1_000),
      run: () => this.runOne(),
      failed: (error) => log.error({ err: error, lane: lane.name }, 'an Explore could not continue'),
    });
  }

  start(): void {
    this.work.start();
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  /** @returns true if there can be more work */
  private async runOne(): Promise<boolean> {
    if (this.lane.stopped) return false;
    // Only one replica holds the lane. So a claim that exists now belongs to a replica that has lost the lane.
    if (!this.hasLane) await releaseJobs(this.database, this.lane.source);
    this.hasLane = true;
    if (!(await this.queued.has(this.lane.source))) return false;
    const job = await claimJob(this.database, this.lane.source);
    if (!job) return false;
    const waitedMs = systemClock.now().getTime() - job.createdAt.getTime();
    if (waitedMs > MAX_WAIT_MS) await this.fail(job, 'there was no answer from the source within 30 minutes');
    else if (this.lane.budget.blockedForMs > 0) await this.blocked(job);
    else if (!this.isIdle() && waitedMs < BEHIND_CHECKS_MS) await giveJobBack(this.database, job, NOT_YET_MS);
    else await this.ask(job);
    return true;
  }

  /**
   * Handles a job whose lane must wait. After a short wait the source is asked again. If the wait is long, the source
   * fails, because people wait for the answer.
   */
  private async blocked(job: ExploreJob): Promise<void> {
    if (this.lane.budget.blockedForMs < BEHIND_CHECKS_MS)
      await giveJobBack(this.database, job, this.lane.budget.blockedForMs);
    else await this.fail(job, this.lane.budget.blockedBy.message);
  }

  private async ask(job: ExploreJob): Promise<void> {
    let fetched: Fetched;
    try {
      fetched = await this.search(job);
    } catch (error) {
      if (error instanceof LaneBlocked || this.lane.stopped)
        return giveJobBack(this.database, job, NOT_YET_MS);
      if (!(error instanceof UpstreamError))
        return this.fail(job, `${job.source} returned something that could not be understood`);
      await this.lane.failed(error, `explore ${job.exploreId}`);
      return this.fail(job, error.message);
    }
    await this.lane.succeeded();
    failpoint('explore-after-read-before-append');
    await this.record(job, fetched);
  }

  private async search(job: ExploreJob): Promise<Fetched> {
    const shared = new Map<string, Promise<unknown>>();
    const { connector } = this.lane;
    const now = systemClock.now();
    const fetched = await connector.search(exploreCriteria(job), {
      http: this.lane.http,
      match: 'platform',
      now,
      pageCap: connector.hasSearch ? PAGE_CAP : PAGE_CAP_WITHOUT_SEARCH,
      // A search returns the newest results first. If the source has no search, the posts of the last days are read.
      ...(connector.hasSearch ? {} : { since: new Date(now.getTime() - RECENT_MS) }),
      known: () => false,
      state: {},
      session: this.lane.session,
      shared: <T>(key: string, read: () => Promise<T>) => {
        const known = (shared.get(key) as Promise<T> | undefined) ?? read();
        shared.set(key, known);
        return known;
      },
    });
    return connector.hasSearch ? fetched : matching(fetched, job);
  }

  private async record(job: ExploreJob, { items: all, warnings }: Fetched): Promise<void> {
    const { exploreId, accountId, source, limit } = job;
    // Without the record, the source would be asked again, which can cost money.
    const beginWithinMs = Infinity;
    const items = all.slice(0, limit);
    for (const part of partsOf(items))
      await this.decisions.decide(
        // After a crash the source is asked again, and its items can differ from the first answer. So each claim stores
        // its own items.
        {
          accountId,
          exploreId,
          commandId: derivedId('explore-items', job.claim, part[0]?.itemId ?? ''),
          beginWithinMs,
        },
        () => ({ kind: 'find', source, requestedAt: isoOf(job.createdAt), items: part }),
      );
    failpoint('explore-after-items-before-answer');
    const reservationId = exploredIdOf(exploreId, source);
    // The reservation is kept before the fact is stored, because a crash between these steps must not lose the reserved
    // credits.
    await keepUntilCharged(this.database, 'EXPLORES', [reservationId]);
    await this.decisions.decide({ accountId, exploreId, commandId: reservationId, beginWithinMs }, () => ({
      kind: 'answer',
      source,
      items: items.length,
      costCredits: creditsPerExploredSource(),
      priceBookVersion: PRICE_BOOK_VERSION,
      warnings,
    }));
  }

  private async fail({ accountId, exploreId, source, claim }: ExploreJob, reason: string): Promise<void> {
    const commandId = derivedId('explore-failed', claim);
    await this.decisions.decide({ accountId, exploreId, commandId }, () => ({
      kind: 'fail',
      source,
      reason,
    }));
    await release(this.database, [{ reservationId: exploredIdOf(exploreId, source), holder: exploreId }]);
  }
}

type Asked = Pick<ExploreJob, 'source' | 'question' | 'market' | 'terms' | 'feedUrls'>;

/**
 * Returns the criteria of the search that asks a source: any of the terms, or the question if there are no terms. The
 * source ai_answers always gets the question; rss gets only the addresses of the feeds.
 */
export function exploreCriteria({ source, question, market, terms, feedUrls }: Asked): Criteria {
  const [term = question] = terms;
  return create(CriteriaSchema, {
    ...{ market, match: 'platform' },
    ...(source === 'ai_answers'
      ? { filters: { prompt: question } }
      : source === 'rss'
        ? { filters: { feed_urls: feedUrls } }
        : terms.length > 1
          ? { terms }
          : { query: term }),
  });
}

/** Returns the items that contain a term, or the question, as whole words. For a source without a search. */
export function matching(
  { items, ...fetched }: Fetched,
  { source, question, terms }: Pick<Asked, 'source' | 'question' | 'terms'>,
): Fetched {
  const matcher = compile([{ key: '', mode: 'word', terms: terms.length > 0 ? terms : [question] }]);
  const found = items.filter(({ title, text }) => matcher.match({ title, text }).length > 0);
  const note = `${source} has no search: its ${items.length} newest posts were read, and posts with a term or the question were kept (${found.length})`;
  return { ...fetched, items: found, warnings: [...fetched.warnings, note] };
}

function partsOf(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    const size = toBinary(ItemSchema, item).length;
    if (bytes + size > MESSAGE_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(item);
    bytes += size;
  }
  return parts;
}
