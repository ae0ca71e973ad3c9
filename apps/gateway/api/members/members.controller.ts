import { create } from '@bufbuild/protobuf';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Query } from '@nestjs/common';
import { ChangeMemberRoleSchema, RemoveMemberSchema } from '#contracts';
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
import { AccessReads, type MemberRow } from '../../reads/access-reads.js';
import { MemberChangeDto } from './member-change.dto.js';

/** The members of an account. The last owner can neither be removed nor get another role. */
@Controller('v1/members')
export class MembersController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: AccessReads,
    private readonly cursors: Cursors,
  ) {}

  @Get()
  list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    return pageOf(new QueryReader(raw), this.cursors, {
      scope: { list: 'members', accountId },
      read: (limit, before) => this.reads.members(accountId, limit, before),
      positionOf: (row) => ({ at: row.joined_at, id: row.member_id }),
      view: memberView,
    });
  }

  @Patch(':id')
  async changeRole(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
    @Body() raw: unknown,
  ) {
    const memberId = pathId(given, 'member');
    const { role } = readBody(MemberChangeDto, raw, 'snake');
    const command = create(ChangeMemberRoleSchema, { commandId, accountId, memberId, role });
    await this.commands.request(COMMANDS.changeMemberRole, command);
    const row = await this.reads.member(accountId, memberId);
    if (!row) throw Refusal.notFound('member');
    return memberView(row);
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
  ): Promise<void> {
    const command = create(RemoveMemberSchema, { commandId, accountId, memberId: pathId(given, 'member') });
    await this.commands.request(COMMANDS.removeMember, command);
  }
}

function memberView(row: MemberRow) {
  return {
    id: row.member_id,
    email: row.email,
    role: row.role,
    joinedAt: isoOf(row.joined_at),
    lastSeenAt: row.last_seen_at && isoOf(row.last_seen_at),
  };
}
