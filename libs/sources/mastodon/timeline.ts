import { LRUCache } from 'lru-cache';
import { readPages, type Page } from '../shared/paging.js';
import { UpstreamError, type FetchContext, type Fetched } from '../source.js';
import { PAGE_SIZE, askIfOpen, nextMaxId, type Instance } from './ask.js';
import { parseTimeline, type StatusPage } from './parse.js';
import { isLastPage } from './tags.js';

/** The rate of an instance's public timeline. */
interface PostRate {
  /** Infinity if the timeline is not public. */
  postsPerSecond: number;
  /** Epoch milliseconds. After this time the rate is measured again. */
  until: number;
}

// The rate that is assumed before the first measurement: that of mastodon.social, the largest server. fosstodon.org, of
// medium size, had 20 posts in 8.7 s (recorded response timelines-public-1.json).
const DEFAULT_POSTS_PER_SECOND = 15;
// The factor between the measured rate and the busiest hour of the day.
const MARGIN = 2;
const MEASURED_FOR_MS = 3_600_000;
// Maximum number of cached rates, because all searches together can name any number of servers.
const RATES_KEPT = 500;

/**
 * The public timelines of instances. The timeline of a small instance can be read completely, but ten pages of a large
 * instance cover only half a minute. So the rate of each timeline is measured on its first page, and only slow
 * timelines are read further.
 */
export class PublicTimelines {
  private readonly rates = new LRUCache<string, PostRate>({ max: RATES_KEPT });

  /**
   * Returns a high estimate of the number of requests to read this many seconds of the timeline; Infinity if a request
   * has shown that the timeline is not public.
   */
  pagesFor(host: string, windowSeconds: number): number {
    const postsPerSecond = this.rates.get(host)?.postsPerSecond ?? DEFAULT_POSTS_PER_SECOND;
    return Math.max(1, Math.ceil((windowSeconds * postsPerSecond * MARGIN) / PAGE_SIZE));
  }

  /**
   * Reads all posts since `until` (epoch milliseconds). Returns undefined if the timeline is not public or too long.
   */
  async readWhole(instance: Instance, context: FetchContext, until: number): Promise<Fetched | undefined> {
    const nowMs = context.now.getTime();
    const windowSeconds = Math.max(1, (nowMs - until) / 1000);
    const tooMuch = () => this.pagesFor(instance.host, windowSeconds) > context.pageCap;
    const rate = this.rates.get(instance.host);
    if (rate && rate.until > nowMs && tooMuch()) return undefined;
    const first = await this.readPage(instance, context, until);
    if (!first || tooMuch()) return undefined;
    return this.readRemainingPages(first, context);
  }

  /**
   * Reads the posts since `until` (epoch milliseconds), as far as the page cap allows.
   * @throws UpstreamError if the timeline is not public
   */
  async read(instance: Instance, context: FetchContext, until: number): Promise<Fetched> {
    const first = await this.readPage(instance, context, until);
    if (first) return this.readRemainingPages(first, context);
    const reason = `mastodon: ${instance.host} does not show its public timeline`;
    throw new UpstreamError('forbidden', reason, 403);
  }

  private readRemainingPages(first: Page, context: FetchContext): Promise<Fetched> {
    const { since, pageCap } = context;
    return readPages(first, { known: (itemId) => context.known(itemId), since, pageCap });
  }

  private async readPage(
    instance: Instance,
    context: FetchContext,
    until: number,
    maxId?: string,
  ): Promise<Page | undefined> {
    const query = new URLSearchParams({
      limit: String(PAGE_SIZE),
      ...(maxId !== undefined && { max_id: maxId }),
    });
    const path = `/api/v1/timelines/public?${query}`;
    const answer = await context.shared(`${instance.host}${path}`, async () => {
      const answer = await askIfOpen(context, instance, path);
      if (!answer) return undefined;
      const statuses = parseTimeline(answer.body, { host: instance.host, now: context.now });
      return { statuses, next: nextMaxId(answer.response, statuses.lastId) };
    });
    if (maxId === undefined) this.measure(instance, answer?.statuses, context.now);
    if (!answer) return undefined;
    const { statuses, next } = answer;
    const more = next !== undefined && !isLastPage(statuses, until);
    return {
      items: statuses.items,
      warnings: statuses.warnings,
      next: more
        ? async () => (await this.readPage(instance, context, until, next)) ?? { items: [], warnings: [] }
        : undefined,
    };
  }

  private measure({ host }: Instance, page: StatusPage | undefined, now: Date): void {
    this.rates.set(host, {
      postsPerSecond: page ? rateOf(page) : Infinity,
      until: now.getTime() + MEASURED_FOR_MS,
    });
  }
}

function rateOf({ count, newestMs, oldestMs }: StatusPage): number {
  if (count < PAGE_SIZE || newestMs === undefined || oldestMs === undefined) return 0;
  return (count - 1) / Math.max(1, (newestMs - oldestMs) / 1000);
}
