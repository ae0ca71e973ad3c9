import { create } from '@bufbuild/protobuf';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { isoFromClickHouse, NO_ID, type AttemptRow } from '#clickhouse';
import { ResendSchema } from '#contracts';
import { displayUrl } from '#http-out';
import { isId } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import {
  DELIVERY_STATES,
  DeliveryReads,
  type DeliveryPosition,
  TARGET_KINDS,
  type DeliveryRead,
} from '../../reads/delivery-reads.js';
import { ResendBodyDto } from './resend-body.dto.js';

const WINDOW_MS = 7 * 24 * 3_600_000;

/** The routes of deliveries of events to receivers. Free. */
@Controller('v1/deliveries')
export class DeliveriesController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: DeliveryReads,
    private readonly cursors: Cursors,
    private readonly webhooks: WebhookAddresses,
  ) {}

  @Get()
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const keyword = query.id('keyword');
    const watch = query.id('watch');
    const endpoint = query.one('endpoint');
    const storedEndpoint = endpoint && storedEndpointOf(endpoint);
    const target = readTarget(query);
    if (target.endpoint !== undefined && endpoint !== undefined)
      query.fault('target', 'cannot be the id of a channel if endpoint is set');
    if (storedEndpoint === '') query.fault('endpoint', 'must be an address, or channel:<id>');
    const state = query.one('state', DELIVERY_STATES);
    const requestedSince = query.instant('since');
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const filter = {
      keyword,
      watch,
      endpoint: storedEndpoint ?? target.endpoint,
      state,
      targetKind: target.kind,
    };
    const scope = { list: 'deliveries', accountId, ...withNulls(filter), since: raw.since ?? null };
    const from =
      cursor === undefined
        ? undefined
        : this.cursors.read<DeliveryPosition & { since: number }>(scope, cursor);
    const since = from ? new Date(from.since) : (requestedSince ?? new Date(Date.now() - WINDOW_MS));
    const before = from && { begun: from.begun, event: from.event, target: from.target };
    const found = await this.reads.deliveries(accountId, { ...filter, since }, limit, before);
    const last = found.length > limit ? found[limit - 1] : undefined;
    const next = last && {
      begun: last.begun,
      event: last.event_id,
      target: last.target_id,
      since: since.getTime(),
    };
    return {
      data: found.slice(0, limit).map(deliveryView),
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }

  /** Sends an event again, as a separate delivery. */
  @Post(':eventId/resend')
  @HttpCode(202)
  async resend(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('eventId') given: string,
    @Body() raw: unknown,
  ) {
    const { url } = readBody(ResendBodyDto, raw ?? {}, 'snake', (one) => [
      () => this.webhooks.faults(one.url, 'url'),
    ]);
    const eventId = pathId(given, 'event');
    const command = create(ResendSchema, { commandId, accountId, eventId, url });
    const { endpoint } = await this.commands.request(COMMANDS.resend, command);
    return { eventId, endpoint: displayUrl(endpoint), target: { kind: 'resend', id: commandId } };
  }
}

/**
 * Returns the receiver in the form in which attempts store it: `channel:` and the id of a channel, or an address without
 * query, fragment and credentials. Returns an empty text if the receiver is neither.
 */
function storedEndpointOf(endpoint: string): string {
  return /^channel:[0-9a-f-]{36}$/.test(endpoint) ? endpoint : displayUrl(endpoint);
}

/**
 * Returns the filter that the parameter `target` contains: a kind of target, or the id of a channel. The id of a channel
 * becomes an endpoint, because a channel gets several kinds of deliveries: events, digests and verifications.
 */
function readTarget(query: QueryReader): { kind?: string; endpoint?: string } {
  const target = query.one('target')?.toLowerCase();
  if (target === undefined) return {};
  if (TARGET_KINDS.some((kind) => kind === target)) return { kind: target };
  if (!isId(target))
    query.fault('target', `must be one of ${TARGET_KINDS.join(', ')}, or the id of a channel`);
  return { endpoint: `channel:${target}` };
}

function withNulls(values: Record<string, string | undefined>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? null]));
}

function deliveryView({ event_id, target_kind, target_id, state, attempts }: DeliveryRead) {
  const last = attempts.at(-1);
  return {
    eventId: event_id,
    keywordId: last && last.keyword_id !== NO_ID ? last.keyword_id : null,
    // Events of the keyword itself have the keyword's id in `watch_id`, and no watch.
    watchId: last && last.watch_id !== last.keyword_id ? last.watch_id : null,
    endpoint: last?.endpoint ?? '',
    target: { kind: target_kind, id: target_id },
    state,
    nextAttemptAt: state === 'retrying' ? instantOf(last?.next_attempt_at) : null,
    attempts: attempts.map(attemptView),
  };
}

function attemptView(row: AttemptRow) {
  return {
    number: row.number,
    at: isoFromClickHouse(row.at),
    delivered: row.delivered,
    statusCode: row.status_code || null,
    durationMs: row.duration_ms,
    message: row.message || null,
  };
}

function instantOf(text: string | null | undefined): string | null {
  return text ? isoFromClickHouse(text) : null;
}
