import type { Command } from 'commander';
import { create } from '@bufbuild/protobuf';
import {
  ChangeAccountSchema,
  ChangePlanSchema,
  OpenAccountSchema,
  RotateSigningSecretSchema,
} from '#contracts';
import { isoOf, newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { AccountEntity } from '#postgres';
import { id, print } from './arguments.js';
import { withBus, withDatabase } from './connection.js';
import { sendCommand } from './send-command.js';

/** Adds the commands `accounts create|list|change-plan|set`. */
export function addAccountCommands(program: Command): void {
  const accounts = program.command('accounts').description('manage accounts and their plans');
  accounts
    .command('create')
    .description('create an account; print {accountId, apiKey, signingSecret}; the key is shown only once')
    .requiredOption(
      '--email <email>',
      'email address of the account; no person can sign in until you invite one with members invite',
    )
    .option('--plan <plan>', 'free, solo, growth, pro or unlimited', 'unlimited')
    .action(async ({ email, plan }: { email: string; plan: string }) => {
      const opened = await withBus(process.env, (bus) =>
        sendCommand(
          bus,
          COMMANDS.openAccount,
          create(OpenAccountSchema, { commandId: newId(), email, plan }),
        ),
      );
      print({ accountId: opened.accountId, apiKey: opened.apiKey, signingSecret: opened.signingSecret });
    });
  accounts
    .command('list')
    .description('print one line of JSON for each account')
    .action(async () => {
      const found = await withDatabase(process.env, (database) =>
        database.getRepository(AccountEntity).find({ order: { createdAt: 'ASC' } }),
      );
      for (const { accountId, email, plan, createdAt } of found)
        print({ accountId, email, plan, createdAt: isoOf(createdAt) });
    });
  accounts
    .command('change-plan')
    .description(
      'change the plan of an account immediately; the credits that this period has used reduce the new allowance',
    )
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--plan <plan>', 'free, solo, growth, pro or unlimited')
    .action(async ({ account, plan }: { account: string; plan: string }) => {
      const command = create(ChangePlanSchema, { commandId: newId(), accountId: account, plan });
      await withBus(process.env, (bus) => sendCommand(bus, COMMANDS.changePlan, command));
      print({ accountId: account, plan });
    });
  accounts
    .command('set')
    .description('change settings of an account; print the settings')
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption(
      '--signature-version <version>',
      'format of X-Signature: v1 (t=…,v1=…) or legacy (plain hex)',
    )
    .action(async ({ account, signatureVersion }: { account: string; signatureVersion: string }) => {
      const command = { commandId: newId(), accountId: account, signatureVersion };
      await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.changeAccount, create(ChangeAccountSchema, command)),
      );
      print({ accountId: account, signatureVersion });
    });
}

/** Adds the command `signing-secret rotate`. */
export function addSigningSecretCommands(program: Command): void {
  program
    .command('signing-secret')
    .description("manage the secret that signs an account's webhooks")
    .command('rotate')
    .description(
      'create a new secret; print {signingSecret, previousValidUntil}. Deliveries are signed with both secrets for ' +
        '24 hours; a second rotation within 24 hours ends the oldest secret immediately',
    )
    .requiredOption('--account <id>', 'the account', id)
    .action(async ({ account }: { account: string }) => {
      const command = create(RotateSigningSecretSchema, { commandId: newId(), accountId: account });
      const { signingSecret, previousValidUntil } = await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.rotateSigningSecret, command),
      );
      print({ signingSecret, previousValidUntil });
    });
}
