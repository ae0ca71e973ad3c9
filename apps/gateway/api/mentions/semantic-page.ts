import { Injectable } from '@nestjs/common';
import { isoOf, Refusal, Running } from '#kernel';
import { Cursors } from '../../http/cursor.js';
import type { RawQuery } from '../../http/query.js';
import type { MentionFilter } from '../../reads/mention-filter.js';
import { MAX_FOUND, SemanticReads } from '../../reads/semantic-reads.js';
import { mentionView } from './mention-view.js';
import { QuestionClient } from './question-client.js';

/** The request for a page of mentions in the order of their similarity to questions. */
export interface SemanticRequest {
  accountId: string;
  keywordId: string | undefined;
  filter: MentionFilter;
  since: Date;
  /** Exclusive. */
  until: Date | undefined;
  limit: number;
  cursor: string | undefined;
  raw: RawQuery;
}

/** The window of the first page, and the mentions that earlier pages contain. */
interface SemanticCursor {
  /** ms */
  since: number;
  until: number;
  /** The last bytes of each id (`ID_BYTES`), in base64. */
  seen: string;
}

/**
 * Number of bytes of each id that a cursor contains. These are the last bytes, because ids can begin with a time. In
 * one of 10¹⁰ questions, two of 200 ids end with the same bytes.
 */
const ID_BYTES = 6;
/**
 * Maximum number of pages that one gateway reads for one account at the same time. One thread computes the meanings of
 * all questions, one after another. Without this limit, the questions of one account could delay those of other
 * accounts.
 */
const MAX_CONCURRENT = 10;

/** Reads pages of mentions in the order of their similarity to questions. */
@Injectable()
export class SemanticPages {
  private readonly running = new Running();

  constructor(
    private readonly questions: QuestionClient,
    private readonly reads: SemanticReads,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Returns the mentions nearest in meaning that earlier pages do not contain. Later pages use the window of the first
   * page. Later pages belong to the same question, so they are free for ten minutes.
   * @throws Refusal `too-many`; a refusal if the cursor is invalid, and every refusal of `QuestionClient.ask`
   */
  async page(request: SemanticRequest) {
    const { accountId } = request;
    if (this.running.of(accountId) >= MAX_CONCURRENT)
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        `${MAX_CONCURRENT} searches by meaning of this account are already running; wait until one ends`,
      );
    const end = this.running.begin(accountId);
    try {
      return await this.read(request);
    } finally {
      end();
    }
  }

  private async read(request: SemanticRequest) {
    const { accountId, keywordId, filter, limit, cursor, raw } = request;
    const question = { keywordId, filter: inFixedOrder(filter), since: raw.since, until: raw.until };
    const scope: unknown = JSON.parse(JSON.stringify({ list: 'semantic', accountId, ...question }));
    const from = cursor === undefined ? undefined : this.cursors.read<SemanticCursor>(scope, cursor);
    const since = from ? new Date(from.since) : request.since;
    const until = from ? new Date(from.until) : (request.until ?? new Date());
    const seen = seenIn(from?.seen ?? '');
    const size = Math.min(limit, MAX_FOUND - seen.size);
    const window = { accountId, keywordId, filter, since, until };
    const { found, cost } = await this.questions.ask(accountId, filter.questions, scope, (asked) =>
      this.reads.search(window, asked, size + 1, seen.size, (id) => seen.has(shortId(id))),
    );
    const page = found.slice(0, size);
    for (const { row } of page) seen.add(shortId(row.event_id));
    const hasMore = found.length > size && seen.size < MAX_FOUND;
    const next = { since: since.getTime(), until: until.getTime(), seen: [...seen].join('') };
    return {
      data: page.map(({ row, score }) => ({ ...mentionView(row), score: Number(score.toFixed(4)) })),
      since: isoOf(since),
      until: request.until ? isoOf(request.until) : null,
      ...(hasMore ? { nextCursor: this.cursors.write(scope, next) } : {}),
      meta: { credits_used: cost },
    };
  }
}

/** Sorts the values of each filter: a question with the same values in another order is the same question. */
function inFixedOrder(filter: MentionFilter): MentionFilter {
  const sorted = Object.entries(filter).map(([key, value]) => [
    key,
    Array.isArray(value) ? [...new Set(value)].sort() : (value as unknown),
  ]);
  return Object.fromEntries(sorted) as MentionFilter;
}

function shortId(id: string): string {
  return Buffer.from(id.replaceAll('-', '').slice(-2 * ID_BYTES), 'hex').toString('base64');
}

function seenIn(text: string): Set<string> {
  const length = (ID_BYTES * 4) / 3;
  return new Set(
    Array.from({ length: text.length / length }, (_, n) => text.slice(n * length, (n + 1) * length)),
  );
}
