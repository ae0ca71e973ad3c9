import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import {
  ChangedPasswordSchema,
  DoneSchema,
  PasswordWasResetSchema,
  RequestedPasswordResetSchema,
  type ChangeMemberRole,
  type ChangePassword,
  type RemoveMember,
  type RequestPasswordReset,
  type ResetPassword,
} from '#contracts';
import { Refusal, systemClock } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { CommandPattern } from '#transport';
import { requireOpen } from '../domain/account.js';
import { memberOf } from '../domain/members.js';
import { AccountDecisions } from './account-decisions.js';
import { ResetTokens } from './reset-tokens.js';

/** Executes the commands on members and their passwords. */
@Controller()
export class MembersHandler {
  constructor(
    private readonly decisions: AccountDecisions,
    private readonly tokens: ResetTokens,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @CommandPattern(COMMANDS.changeMemberRole)
  async changeRole({ commandId, accountId, memberId, role }: ChangeMemberRole) {
    await this.decisions.run(accountId, commandId, { kind: 'change-member-role', memberId, role });
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.removeMember)
  async remove({ commandId, accountId, memberId }: RemoveMember) {
    await this.decisions.run(accountId, commandId, { kind: 'remove-member', memberId });
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.changePassword)
  async changePassword({ commandId, accountId, memberId, passwordHash, previousHash }: ChangePassword) {
    const account = await this.decisions.run(accountId, commandId, {
      kind: 'change-password',
      memberId,
      passwordHash,
      isCurrentHash: (hash) => hash === previousHash,
    });
    const { passwordVersion } = memberOf(requireOpen(account).members, memberId);
    return create(ChangedPasswordSchema, { passwordVersion });
  }

  @CommandPattern(COMMANDS.requestPasswordReset)
  async requestReset({ email }: RequestPasswordReset) {
    const [member] = await this.database.query<
      { account_id: string; member_id: string; password_hash: string }[]
    >(
      `SELECT account_id, member_id, password_hash FROM members
       WHERE lower(email) = lower($1) AND removed_at IS NULL ORDER BY joined_at LIMIT 1`,
      [email],
    );
    const now = systemClock.now().getTime();
    const token = member
      ? this.tokens.write(member.account_id, member.member_id, member.password_hash, now)
      : '';
    return create(RequestedPasswordResetSchema, { token });
  }

  @CommandPattern(COMMANDS.resetPassword)
  async resetPassword({ commandId, token, passwordHash }: ResetPassword) {
    const read = this.tokens.read(token, systemClock.now().getTime());
    if (!read) throw refusedToken();
    const { accountId, memberId, isFor } = read;
    await this.decisions
      .run(accountId, commandId, { kind: 'change-password', memberId, passwordHash, isCurrentHash: isFor })
      .catch((error: unknown) => {
        const isOver = error instanceof Refusal && (error.kind === 'conflict' || error.kind === 'not-found');
        throw isOver ? refusedToken() : error;
      });
    return create(PasswordWasResetSchema, { accountId, memberId });
  }
}

function refusedToken(): Refusal {
  return Refusal.validation([{ path: 'token', message: 'is not valid, or was used, or is too old' }]);
}
