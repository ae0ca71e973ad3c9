import { create } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import {
  ChangeMemberRoleSchema,
  InviteMemberSchema,
  RemoveMemberSchema,
  RequestPasswordResetSchema,
} from '#contracts';
import { newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { endAllSessions } from '../gateway/sessions/sessions.js';
import { id, print } from './arguments.js';
import { withBus, withDatabase } from './connection.js';
import { sendCommand } from './send-command.js';

/** Adds the commands `members invite|list|set-role|remove|reset-password|sign-out`. */
export function addMemberCommands(program: Command): void {
  const members = program
    .command('members')
    .description('manage the members of an account, who sign in to the dashboard');
  members
    .command('invite')
    .description(
      'invite a person; print {invitationId, email, role, code, path, expiresAt}. The code is shown only once: the ' +
        'person signs up with it in the dashboard, within 7 days',
    )
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--email <email>', 'email address of the person')
    .option('--role <role>', 'owner, editor or viewer', 'owner')
    .action(async ({ account, email, role }: { account: string; email: string; role: string }) => {
      const command = create(InviteMemberSchema, { commandId: newId(), accountId: account, email, role });
      const { invitationId, code, expiresAt } = await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.inviteMember, command),
      );
      const path = `/sign-up#${new URLSearchParams({ email, code }).toString()}`;
      print({ invitationId, email, role, code, path, expiresAt });
    });
  members
    .command('list')
    .description('print one line of JSON for each member')
    .requiredOption('--account <id>', 'the account', id)
    .action(async ({ account }: { account: string }) => {
      const found: object[] = await withDatabase(process.env, (database) =>
        database.query(
          `SELECT member_id AS "memberId", email, role, joined_at AS "joinedAt" FROM members
           WHERE account_id = $1 AND removed_at IS NULL ORDER BY joined_at`,
          [account],
        ),
      );
      found.forEach(print);
    });
  members
    .command('set-role')
    .description(
      'change the role of a member, immediately for sessions and within 5 seconds for keys; an account keeps at least one owner',
    )
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--member <id>', 'the member', id)
    .requiredOption('--role <role>', 'owner, editor or viewer')
    .action(async ({ account, member, role }: { account: string; member: string; role: string }) => {
      const command = { commandId: newId(), accountId: account, memberId: member, role };
      await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.changeMemberRole, create(ChangeMemberRoleSchema, command)),
      );
      print({ memberId: member, role });
    });
  members
    .command('remove')
    .description(
      'remove a member: the sessions end immediately, and the keys of the member are revoked (gateways can accept them for up to 5 seconds)',
    )
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--member <id>', 'the member', id)
    .action(async ({ account, member }: { account: string; member: string }) => {
      const command = { commandId: newId(), accountId: account, memberId: member };
      await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.removeMember, create(RemoveMemberSchema, command)),
      );
      print({ memberId: member, removed: true });
    });
  members
    .command('reset-password')
    .description(
      'print {email, token, path}: with the path in the dashboard, the person can choose a password once, within one hour',
    )
    .requiredOption('--email <email>', 'email address of the member')
    .action(async ({ email }: { email: string }) => {
      const { token } = await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.requestPasswordReset, create(RequestPasswordResetSchema, { email })),
      );
      if (token === '') throw new Error(`No member has the address ${email}.`);
      print({ email, token, path: `/reset-password#${new URLSearchParams({ token }).toString()}` });
    });
  members
    .command('sign-out')
    .description(
      'end all sessions of all members, immediately, and print {ended}; everybody signs in again. Run it after Postgres was restored from an older copy, which contains sessions that people have ended',
    )
    .action(async () => {
      print({ ended: await withDatabase(process.env, endAllSessions) });
    });
}
