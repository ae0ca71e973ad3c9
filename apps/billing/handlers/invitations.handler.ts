import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import {
  DoneSchema,
  InvitedMemberSchema,
  JoinedMemberSchema,
  type AcceptInvitation,
  type InviteMember,
  type RevokeInvitation,
} from '#contracts';
import { isoOf, newId, Refusal, systemClock } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { hashCode, newInvitationCode, sameHash } from '#secrets';
import { CommandPattern } from '#transport';
import { requireOpen } from '../domain/account.js';
import { refusedCode } from '../domain/members.js';
import { AccountDecisions } from './account-decisions.js';
import { requireUnusedEmail } from './unused-email.js';

const VALID_MS = 7 * 24 * 3_600_000;

/** Executes the commands on invitations. A code is returned in clear text only once, in the reply. */
@Controller()
export class InvitationsHandler {
  constructor(
    private readonly decisions: AccountDecisions,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @CommandPattern(COMMANDS.inviteMember)
  async invite({ commandId, accountId, email, role, invitedBy }: InviteMember) {
    const code = newInvitationCode();
    const codeHash = hashCode(code);
    const now = systemClock.now().getTime();
    const expiresAt = isoOf(now + VALID_MS);
    const account = await this.decisions.run(accountId, commandId, {
      kind: 'invite-member',
      invitationId: commandId,
      email,
      role,
      codeHash,
      expiresAt,
      invitedBy,
      now: isoOf(now),
    });
    const stored = requireOpen(account).members.invitations.get(commandId);
    if (!stored || !sameHash(Buffer.from(stored.codeHash), codeHash))
      throw Refusal.conflict(
        'this invitation was made by an earlier attempt, whose answer was lost; invite again',
      );
    return create(InvitedMemberSchema, { invitationId: commandId, code, expiresAt });
  }

  @CommandPattern(COMMANDS.revokeInvitation)
  async revoke({ commandId, accountId, invitationId }: RevokeInvitation) {
    await this.decisions.run(accountId, commandId, { kind: 'revoke-invitation', invitationId });
    return create(DoneSchema);
  }

  /** Accepts an invitation. The code determines the account. */
  @CommandPattern(COMMANDS.acceptInvitation)
  async accept({ commandId, code, email, passwordHash }: AcceptInvitation) {
    const [found] = await this.database.query<{ account_id: string; invitation_id: string }[]>(
      'SELECT account_id, invitation_id FROM invitations WHERE code_hash = $1',
      [hashCode(code)],
    );
    if (!found) throw refusedCode();
    const { account_id: accountId, invitation_id: invitationId } = found;
    const memberId = newId();
    const now = isoOf(systemClock.now());
    await this.decisions.run(
      accountId,
      commandId,
      { kind: 'accept-invitation', invitationId, memberId, email, passwordHash, now },
      (tx) => requireUnusedEmail(tx, email, accountId),
    );
    return create(JoinedMemberSchema, { accountId, memberId });
  }
}
