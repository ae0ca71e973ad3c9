import { create } from '@bufbuild/protobuf';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CreateKeySchema, LimitKeySchema, RenameKeySchema, RevokeKeySchema } from '#contracts';
import { derivedId, isoOf, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { inSpellingOf, readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { pageOf } from '../../http/newest-first.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { AccessReads, type KeyRow } from '../../reads/access-reads.js';
import { KeyBodyDto, KeyChangeDto } from './key-body.dto.js';

/** The routes of API keys. An owner sees and changes all keys of the account, an editor only the editor's own keys. */
@Controller('v1/keys')
export class KeysController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: AccessReads,
    private readonly cursors: Cursors,
  ) {}

  /** Creates a key. Only this answer contains the key. */
  @Post()
  @HttpCode(201)
  async create(@From() { accountId, by }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const { name, scope = 'write', expiresAt, mcpDailyCredits } = readBody(KeyBodyDto, raw, 'snake');
    const command = create(CreateKeySchema, {
      commandId,
      accountId,
      name,
      scope,
      expiresAt: expiresAt ?? '',
      memberId: by.id,
      ...limitOf(mcpDailyCredits),
    });
    const { keyId, apiKey } = await inSpellingOf(raw, () =>
      this.commands.request(COMMANDS.createKey, command),
    );
    return { ...(await this.view(accountId, keyId)), apiKey };
  }

  @Get()
  list(@From() caller: Caller, @Query() raw: RawQuery) {
    const { accountId } = caller;
    const ofMember = memberOfVisibleKeys(caller) || null;
    return pageOf(new QueryReader(raw), this.cursors, {
      scope: { list: 'keys', accountId, ofMember },
      read: (limit, before) => this.reads.keys(accountId, ofMember, limit, before),
      positionOf: (row) => ({ at: row.created_at, id: row.key_id }),
      view: keyView,
    });
  }

  @Patch(':id')
  async change(
    @From() caller: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
    @Body() raw: unknown,
  ) {
    const { accountId } = caller;
    const keyId = pathId(given, 'key');
    const { name, mcpDailyCredits } = readBody(KeyChangeDto, raw, 'snake');
    const command = { commandId, accountId, keyId, ofMember: memberOfVisibleKeys(caller) };
    if (name !== undefined)
      await this.commands.request(COMMANDS.renameKey, create(RenameKeySchema, { ...command, name }));
    if (mcpDailyCredits !== undefined) {
      const limit = { ...command, commandId: derivedId('limit', commandId), ...limitOf(mcpDailyCredits) };
      await this.commands.request(COMMANDS.limitKey, create(LimitKeySchema, limit));
    }
    return this.view(accountId, keyId, command.ofMember);
  }

  /** Revokes a key. A gateway can accept the revoked key for up to 5 seconds. */
  @Delete(':id')
  @HttpCode(204)
  async revoke(
    @From() caller: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
  ): Promise<void> {
    const { accountId } = caller;
    const keyId = pathId(given, 'key');
    const command = { commandId, accountId, keyId, ofMember: memberOfVisibleKeys(caller) };
    await this.commands.request(COMMANDS.revokeKey, create(RevokeKeySchema, command));
  }

  /** @param ofMember empty: a key of any member */
  private async view(accountId: string, keyId: string, ofMember = '') {
    const row = await this.reads.key(accountId, keyId, ofMember || null);
    if (!row) throw Refusal.notFound('key');
    return keyView(row);
  }
}

/** Returns the member whose keys the caller sees; empty for an owner, who sees the keys of all members. */
function memberOfVisibleKeys({ role, by }: Caller): string {
  return role === 'owner' ? '' : by.id;
}

/**
 * Returns the part of a command that sets the MCP limit of a key. If the command contains no limit, the gateway's
 * setting applies to the key.
 */
function limitOf(mcpDailyCredits: number | null | undefined): { mcpDailyCredits?: number } {
  return typeof mcpDailyCredits === 'number' ? { mcpDailyCredits } : {};
}

function keyView(row: KeyRow) {
  return {
    id: row.key_id,
    name: row.name,
    scope: row.scope,
    mcpDailyCredits: row.mcp_daily_credits,
    member: row.member_id === null ? null : { id: row.member_id, email: row.member_email ?? '' },
    createdAt: isoOf(row.created_at),
    expiresAt: row.expires_at && isoOf(row.expires_at),
    lastUsedAt: row.last_used_at && isoOf(row.last_used_at),
  };
}
