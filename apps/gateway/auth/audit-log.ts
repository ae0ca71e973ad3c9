import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '#kernel';
import { DATABASE, LOG } from '#platform';
import { deleteInParts, type Database } from '#postgres';
import type { Logger } from '#telemetry';
import { hiddenFailureOf } from '../http/hidden-failure.js';
import type { Caller } from './api-keys.js';
import { callerOf } from './caller.js';
import { GroupedWrites } from './grouped-writes.js';
import { changesNothing } from './permissions.js';

/** Number of days that an entry is kept. Reads leave out older entries, which are deleted some minutes later. */
export const AUDIT_KEPT_DAYS = 365;
const MAX_PATH_LENGTH = 500;
const MAX_KEYS = 50;
const MAX_KEY_LENGTH = 100;

const MCP = '/mcp';
/** Matches the MCP tools that change nothing: their names begin with one of these verbs. */
const READING_TOOL = /^#(search|get|explain|list|estimate|backtest)_/;

/** A row of `audit_log`, without its time. */
interface Entry {
  entry_id: string;
  account_id: string;
  by_kind: string;
  by_id: string;
  method: string;
  route: string;
  path: string;
  body_keys: string[];
  status: number | null;
  request_id: string;
  network_address: string;
}

/** Who made a request. */
type Author = Pick<Caller, 'accountId'> & { by: Pick<Caller['by'], 'kind' | 'id'> };

/**
 * Records each admitted write by a key or a member. The entry is stored before the write runs, and gets its status before
 * the answer is sent. Requests that `Admission` refuses are not recorded. Bodies can contain secrets, so only the names
 * of their properties are recorded.
 */
@Injectable()
export class AuditLog {
  private readonly entries = new WeakMap<FastifyRequest, string>();
  private readonly inserts = new GroupedWrites<Entry>((entries) => this.insert(entries));
  private readonly outcomes = new GroupedWrites<Pick<Entry, 'entry_id' | 'status'>>((statuses) =>
    this.update(statuses),
  );

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Adds two hooks: one runs after the body was read and before any change, the other before a response is sent. */
  guard(fastify: FastifyInstance): void {
    fastify.addHook('preHandler', async (request, reply) => {
      const caller = callerOf(request);
      if (!caller || request.is404 || !isWrite(request)) return;
      this.entries.set(request, await this.write(caller, request, reply, null));
    });
    fastify.addHook('onSend', async (request, reply, payload) => {
      const entryId = this.entries.get(request);
      if (entryId !== undefined) await this.complete(entryId, hiddenFailureOf(request) ?? reply.statusCode);
      return payload;
    });
  }

  /** Records a change that a route without authentication made for a member, such as a sign-in. */
  async record(author: Author, request: FastifyRequest, reply: FastifyReply, status: number): Promise<void> {
    await this.write(author, request, reply, status);
  }

  private async write(
    { accountId, by }: Author,
    request: FastifyRequest,
    reply: FastifyReply,
    status: number | null,
  ): Promise<string> {
    const entryId = newId();
    await this.inserts.add({
      entry_id: entryId,
      account_id: accountId,
      by_kind: by.kind,
      by_id: by.id,
      method: request.method,
      route: (request.routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}'),
      path: storable(request.url + toolOf(request), MAX_PATH_LENGTH),
      body_keys: keysOf(request.body),
      status,
      request_id: String(reply.getHeader('x-request-id') ?? ''),
      network_address: request.ip,
    });
    return entryId;
  }

  /**
   * Stores the status of a request. If this fails, the response does not change, and the entry shows an unknown
   * outcome.
   */
  private async complete(entryId: string, status: number): Promise<void> {
    await this.outcomes
      .add({ entry_id: entryId, status })
      .catch((error: unknown) =>
        this.log.warn({ err: error, entryId }, 'the status of an entry of the audit log could not be stored'),
      );
  }

  private insert(entries: readonly Entry[]): Promise<unknown> {
    return this.database.query(
      `INSERT INTO audit_log (entry_id, account_id, by_kind, by_id, method, route, path, body_keys, status, request_id,
         network_address)
       SELECT entry_id, account_id, by_kind, by_id, method, route, path, body_keys, status, request_id, network_address
       FROM jsonb_populate_recordset(NULL::audit_log, $1)`,
      [JSON.stringify(entries)],
    );
  }

  private update(statuses: readonly Pick<Entry, 'entry_id' | 'status'>[]): Promise<unknown> {
    return this.database.query(
      // Not a join: while the statistics of Postgres say that the table is small, a join would read the whole table.
      `UPDATE audit_log SET status = ($1::jsonb ->> entry_id::text)::int
       WHERE entry_id = ANY (ARRAY(SELECT jsonb_object_keys($1)::uuid))`,
      [JSON.stringify(Object.fromEntries(statuses.map((one) => [one.entry_id, one.status])))],
    );
  }

  /** Deletes entries after a year. */
  async deleteOld(): Promise<void> {
    await deleteInParts(this.database, 'audit_log', `s.at < now() - interval '${AUDIT_KEPT_DAYS} days'`);
  }
}

/**
 * Returns whether a request is recorded. All messages to the MCP server are POSTs, but only calls of tools that change
 * something are recorded.
 */
export function isWrite(request: FastifyRequest): boolean {
  const { method, routeOptions } = request;
  if (routeOptions.url === undefined) return false;
  if (routeOptions.url === MCP) return toolOf(request) !== '' && !READING_TOOL.test(toolOf(request));
  return !changesNothing(method, routeOptions.url);
}

/** Returns for example `#create_keyword` for a call of the tool create_keyword; empty if the request calls no tool. */
function toolOf({ routeOptions, body }: FastifyRequest): string {
  if (routeOptions.url !== MCP) return '';
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === 'tools/call' && typeof params?.name === 'string' ? `#${params.name}` : '';
}

function keysOf(body: unknown): string[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  return Object.keys(body)
    .slice(0, MAX_KEYS)
    .map((key) => storable(key, MAX_KEY_LENGTH));
}

/** Shortens a text, and removes what Postgres does not store: U+0000 and lone surrogates, also at the cut. */
function storable(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '');
}
