import { create } from '@bufbuild/protobuf';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { InviteMemberSchema, RevokeInvitationSchema } from '#contracts';
import { isoOf } from '#kernel';
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
import { AccessReads, type InvitationRow } from '../../reads/access-reads.js';
import { AccountLinks } from '../../sessions/account-links.js';
import { SignUps } from '../../sessions/sign-ups.js';
import { InvitationBodyDto } from './invitation-body.dto.js';

/** Invitations of people to become members. */
@Controller('v1/invitations')
export class InvitationsController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: AccessReads,
    private readonly cursors: Cursors,
    private readonly links: AccountLinks,
    private readonly signUps: SignUps,
  ) {}

  /**
   * Invites an email address. Only this answer contains the code of the invitation. A second invitation of an address
   * ends the first invitation.
   */
  @Post()
  @HttpCode(201)
  async invite(@From() { accountId, by }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    this.signUps.requireOn();
    const { email, role } = readBody(InvitationBodyDto, raw, 'snake');
    const command = create(InviteMemberSchema, { commandId, accountId, email, role, invitedBy: by.id });
    const { invitationId, code, expiresAt } = await this.commands.request(COMMANDS.inviteMember, command);
    return { id: invitationId, email, role, code, url: this.links.signUp(email, code), expiresAt };
  }

  /** Lists the invitations that can still be accepted. */
  @Get()
  list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    return pageOf(new QueryReader(raw), this.cursors, {
      scope: { list: 'invitations', accountId },
      read: (limit, before) => this.reads.invitations(accountId, limit, before),
      positionOf: (row) => ({ at: row.created_at, id: row.invitation_id }),
      view: invitationView,
    });
  }

  @Delete(':id')
  @HttpCode(204)
  async revoke(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
  ): Promise<void> {
    const invitationId = pathId(given, 'invitation');
    const command = create(RevokeInvitationSchema, { commandId, accountId, invitationId });
    await this.commands.request(COMMANDS.revokeInvitation, command);
  }
}

function invitationView(row: InvitationRow) {
  return {
    id: row.invitation_id,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: isoOf(row.created_at),
    expiresAt: isoOf(row.expires_at),
  };
}
