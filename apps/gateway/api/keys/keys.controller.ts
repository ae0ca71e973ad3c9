import { create } from '@bufbuild/protobuf';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CreateKeySchema, RenameKeySchema, RevokeKeySchema } from '#contracts';
import { isoOf, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { pageOf } from '../../http/newest-first.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { PeopleReads, type KeyRow } from '../../reads/people-reads.js';
import { KeyBodyDto, KeyChangeDto } from './key-body.dto.js';

/** The API keys of an account. An owner sees and changes all of them, an editor his own. */
@Controller('v1/keys')
export class KeysController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: PeopleReads,
    private readonly cursors: Cursors,
  ) {}

  /** The only answer that contains the key. */
  @Post()
  @HttpCode(201)
  async create(@From() { accountId, by }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const { name, scope = 'write', expiresAt } = readBody(KeyBodyDto, raw, 'snake');
    const { keyId, apiKey } = await this.commands.request(
      COMMANDS.createKey,
      create(CreateKeySchema, {
        commandId,
        accountId,
        name,
        scope,
        expiresAt: expiresAt ?? '',
        memberId: by.id,
      }),
    );
    return { ...(await this.view(accountId, keyId)), apiKey };
  }

  @Get()
  list(@From() caller: Caller, @Query() raw: RawQuery) {
    const { accountId } = caller;
    const ofMember = ownerOfKeys(caller) || null;
    return pageOf(new QueryReader(raw), this.cursors, {
      scope: { list: 'keys', accountId, ofMember },
      read: (limit, before) => this.reads.keys(accountId, ofMember, limit, before),
      placeOf: (row) => ({ at: row.created_at, id: row.key_id }),
      view: keyView,
    });
  }

  @Patch(':id')
  async rename(
    @From() caller: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
    @Body() raw: unknown,
  ) {
    const { accountId } = caller;
    const keyId = pathId(given, 'key');
    const { name } = readBody(KeyChangeDto, raw, 'snake');
    const ofMember = ownerOfKeys(caller);
    const command = create(RenameKeySchema, { commandId, accountId, keyId, name, ofMember });
    await this.commands.request(COMMANDS.renameKey, command);
    return this.view(accountId, keyId);
  }

  /** A gateway can accept the key for some more seconds. */
  @Delete(':id')
  @HttpCode(204)
  async revoke(
    @From() caller: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
  ): Promise<void> {
    const { accountId } = caller;
    const keyId = pathId(given, 'key');
    const command = { commandId, accountId, keyId, ofMember: ownerOfKeys(caller) };
    await this.commands.request(COMMANDS.revokeKey, create(RevokeKeySchema, command));
  }

  private async view(accountId: string, keyId: string) {
    const row = await this.reads.key(accountId, keyId);
    if (!row) throw Refusal.notFound('key');
    return keyView(row);
  }
}

/** The member whose keys the caller sees; empty for an owner, who sees those of everybody. */
function ownerOfKeys({ role, by }: Caller): string {
  return role === 'owner' ? '' : by.id;
}

function keyView(row: KeyRow) {
  return {
    id: row.key_id,
    name: row.name,
    scope: row.scope,
    member: row.member_id === null ? null : { id: row.member_id, email: row.member_email ?? '' },
    createdAt: isoOf(row.created_at),
    expiresAt: row.expires_at && isoOf(row.expires_at),
    lastUsedAt: row.last_used_at && isoOf(row.last_used_at),
  };
}
