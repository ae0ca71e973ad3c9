import { createHash } from 'node:crypto';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Refusal } from '#kernel';
import { FailedKeyAttempts } from '../../auth/failed-key-attempts.js';
import { QueryReader } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { readMentionFilter } from '../../reads/mention-filter.js';
import { MentionReads } from '../../reads/mention-reads.js';
import { FeedAddresses } from './feed-addresses.js';
import { atomDocument, jsonDocument } from './feed-documents.js';

const MENTIONS = 50;
const WINDOW_MS = 90 * 86_400_000;
/**
 * The document of a feed is kept in memory for this time, because feed readers send many requests, which no quota
 * limits.
 */
const KEPT_MS = 10_000;
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** The formats, by the extension of the address. */
const FORMATS = {
  xml: { type: 'application/atom+xml; charset=utf-8', document: atomDocument },
  json: { type: 'application/feed+json; charset=utf-8', document: jsonDocument },
} as const;

/** Headers of every feed. These headers keep the feed out of search engines, and protect the secret address. */
const HEADERS = {
  'cache-control': 'private, max-age=60',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

/**
 * Serves the feeds of keywords: the newest mentions, without dropped and hidden mentions. Everyone who has the address
 * of a feed can read the feed.
 */
@Controller('feeds')
export class FeedPagesController {
  private readonly kept = new LRUCache<string, string>({
    ttl: KEPT_MS,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (body) => body.length + 1,
  });

  /** Secrets that were valid when they were last used. */
  private readonly validBefore = new LRUCache<string, true>({ max: 50_000 });

  constructor(
    private readonly attempts: FailedKeyAttempts,
    private readonly keywords: KeywordReads,
    private readonly mentions: MentionReads,
    private readonly addresses: FeedAddresses,
  ) {}

  @Get(':file')
  async read(@Param('file') file: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const [, secret = '', format] = /^([\w-]{54})\.(xml|json)$/.exec(file) ?? [];
    const keyword = await this.keywordOf(secret, request, reply);
    if (!keyword) throw Refusal.notFound('feed');
    const { type, document } = FORMATS[format as keyof typeof FORMATS];
    const address = this.addresses.urlOf(file, request);
    let body = this.kept.get(address);
    if (body === undefined) {
      const filter = readMentionFilter(new QueryReader({}));
      const page = { since: new Date(Date.now() - WINDOW_MS), until: undefined, order: 'desc' as const };
      const rows = await this.mentions.mentions(keyword.accountId, keyword.keywordId, filter, {
        ...{ ...page, limit: MENTIONS, after: undefined },
      });
      const { name, createdAt } = keyword;
      body = document({
        ...{ keywordId: keyword.keywordId, name, address },
        mentions: rows.slice(0, MENTIONS),
        since: createdAt,
      });
      this.kept.set(address, body);
    }
    const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    void reply.headers({ ...HEADERS, 'content-type': type, etag: tag });
    if (request.headers['if-none-match'] === tag) return reply.status(304).send();
    return reply.send(body);
  }

  /**
   * Returns the keyword of a secret; undefined if the secret is not valid. Each check of a secret needs a query to
   * Postgres, so the attempts of an address are limited.
   * @throws Refusal `too-many`, except for a secret that was valid when this gateway last saw it
   */
  private async keywordOf(secret: string, { ip }: FastifyRequest, reply: FastifyReply) {
    const keywordId = this.addresses.keywordIdIn(secret);
    if (keywordId === undefined) return undefined;
    if (!this.validBefore.has(secret)) this.attempts.refuseBlocked(ip, reply);
    const keyword = await this.keywords.ofFeed(keywordId);
    if (keyword && this.addresses.isSecretOf(secret, keyword)) {
      this.validBefore.set(secret, true);
      return keyword;
    }
    this.validBefore.delete(secret);
    this.attempts.note(ip, 'the address of a feed is not valid');
    return undefined;
  }
}
