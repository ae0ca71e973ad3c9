import { create } from '@bufbuild/protobuf';
import { Body, Controller, Get, Headers, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { creditsPerExploredSource, CriteriaSchema, StartExploreSchema } from '#contracts';
import { balanceOf } from '#credits';
import { isoOf, Refusal, systemClock, type Fault } from '#kernel';
import { foldTerm } from '#matching';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { SOURCES } from '../../config.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { pathId } from '../../http/path-id.js';
import { refusedEstimate } from '../../http/refused-estimate.js';
import { ExploreReads, type ExploreRow } from '../../reads/explore-reads.js';
import { EstimateTokens } from '../keywords/estimate-tokens.js';
import { unavailability, type Sources } from '../keywords/keyword-faults.js';
import { ExploreBodyDto, DEFAULT_EXPLORE_ITEMS } from './explore-body.dto.js';

/**
 * Asks sources a question once, without a keyword. The price is fixed before the sources are asked, and each source is
 * charged separately.
 */
@Controller('v1/explore')
export class ExploreController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: ExploreReads,
    private readonly tokens: EstimateTokens,
    @Inject(SOURCES) private readonly sources: Sources,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** Estimates an Explore. Free. If the Explore would be refused, the result contains the refusal. */
  @Post('estimate')
  @HttpCode(200)
  async estimate(@From() { accountId }: Caller, @Body() raw: unknown) {
    try {
      const { sources } = this.body(raw);
      const credits = creditsPerExploredSource();
      const balance = await balanceOf(this.database, accountId);
      const available = balance ? balance.remaining - balance.reserved : 0;
      if (available < credits * sources.length)
        throw Refusal.insufficientCredits(credits * sources.length, available);
      const estimate = {
        credits: credits * sources.length,
        bySource: sources.map((source) => ({ source, credits })),
        creditsRemaining: balance?.remaining ?? 0,
      };
      return { valid: true, estimate, ...this.tokens.issue(accountId, raw, systemClock.now()) };
    } catch (error) {
      return refusedEstimate(error);
    }
  }

  @Post()
  @HttpCode(202)
  async start(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Headers('service-estimate-token') token: string | undefined,
  ) {
    const { question, sources, market = 'global', limit = DEFAULT_EXPLORE_ITEMS, ...more } = this.body(raw);
    const { terms = [], feedUrls = [] } = more;
    this.tokens.check(accountId, raw, token, systemClock.now());
    const command = create(StartExploreSchema, {
      ...{ commandId, accountId, question, market, limit, sources, terms, feedUrls },
    });
    const { id } = await this.commands.request(COMMANDS.startExplore, command);
    return { id, status: exploreView(await this.row(accountId, id)).status };
  }

  @Get(':id')
  async read(@From() { accountId }: Caller, @Param('id') id: string) {
    return exploreView(await this.row(accountId, pathId(id, 'explore')));
  }

  private async row(accountId: string, id: string): Promise<ExploreRow> {
    const row = await this.reads.explore(accountId, id);
    if (!row) throw Refusal.notFound('explore');
    return row;
  }

  private body(raw: unknown): ExploreBodyDto {
    return readBody(ExploreBodyDto, raw, 'snake', ({ sources, terms = [], feedUrls = [] }) => [
      ...sources.map((source, index) => (): Fault[] => {
        const unavailable = unavailability(source, this.sources);
        return unavailable ? [{ path: `sources[${index}]`, message: unavailable }] : [];
      }),
      () => (sources.includes('rss') ? this.feedFaults(feedUrls) : []),
      () =>
        terms.flatMap((term, index) =>
          foldTerm(term) === '' ? [{ path: `terms[${index}]`, message: 'must not be blank' }] : [],
        ),
    ]);
  }

  /** Returns the fault of each faulty address, or the fault of the whole list if no single address has one. */
  private feedFaults(feedUrls: string[]): Fault[] {
    const messages = (urls: string[]): string[] => {
      const criteria = create(CriteriaSchema, { filters: { feed_urls: urls } });
      const faults = this.sources.get('rss')?.connector.checkCriteria(criteria) ?? [];
      return faults.map(({ message }) => message);
    };
    const ofAddresses = feedUrls.flatMap((url, index) =>
      // The source leaves out blank addresses.
      url.trim() === '' ? [] : messages([url]).map((message) => ({ path: `feedUrls[${index}]`, message })),
    );
    return ofAddresses.length > 0
      ? ofAddresses
      : messages(feedUrls).map((message) => ({ path: 'feedUrls', message }));
  }
}

function exploreView(row: ExploreRow) {
  return {
    id: row.explore_id,
    question: row.question,
    market: row.market,
    limit: row.most_items,
    status: statusOf(row),
    sources: row.sources.map(({ source, status, items, message }) => ({
      source,
      status,
      items,
      error: status === 'failed' ? message : null,
      warning: status === 'done' && message !== '' ? message : null,
    })),
    creditsQuoted: row.credits_quoted,
    creditsUsed: row.sources.reduce((sum, { credits }) => sum + credits, 0),
    createdAt: isoOf(row.created_at),
  };
}

/** Returns the state of an Explore. `failed` means that all sources have ended and none has answered. */
function statusOf({ sources }: ExploreRow): 'queued' | 'running' | 'done' | 'failed' {
  const open = sources.filter(({ status }) => status === 'queued' || status === 'running');
  if (open.length === 0) return sources.some(({ status }) => status === 'done') ? 'done' : 'failed';
  return open.length === sources.length && open.every(({ status }) => status === 'queued')
    ? 'queued'
    : 'running';
}
