import { create } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import { GrantCreditsSchema } from '#contracts';
import { balanceOf } from '#credits';
import { isoOf, newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { id, instant, print, wholeNumber } from './arguments.js';
import { audit } from './audit/audit.js';
import { auditText } from './audit/print-audit.js';
import { readAccount } from './audit/read-account.js';
import { withBus, withDatabase } from './connection.js';
import { sendCommand } from './send-command.js';

/** Adds the commands `credits grant|show|audit`. */
export function addCreditCommands(program: Command): void {
  const credits = program.command('credits').description('manage the credits of an account');
  addGrant(credits);
  addShow(credits);
  addAudit(credits);
}

function addGrant(credits: Command): void {
  credits
    .command('grant')
    .description('add a pack of credits to the account; print {packId, amount, creditsRemaining}')
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--amount <credits>', 'number of credits', wholeNumber)
    .option('--expires-at <instant>', 'ISO 8601; default: never', instant)
    .option('--note <text>', 'reason of the grant', '')
    .action(async (options: { account: string; amount: number; expiresAt?: string; note: string }) => {
      const { account, amount, expiresAt = '', note } = options;
      const command = { commandId: newId(), accountId: account, amount, expiresAt, note };
      const { packId, creditsRemaining } = await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.grantCredits, create(GrantCreditsSchema, command)),
      );
      print({ packId, amount, creditsRemaining });
    });
}

function addShow(credits: Command): void {
  credits
    .command('show')
    .description('print the credits of an account as one line of JSON')
    .requiredOption('--account <id>', 'the account', id)
    .action(async ({ account }: { account: string }) => {
      const balance = await withDatabase(process.env, (database) => balanceOf(database, account));
      if (!balance) throw Refusal.notFound('account');
      print({
        accountId: account,
        plan: balance.plan,
        periodStart: isoOf(balance.periodStart),
        periodEnd: isoOf(balance.periodEnd),
        monthlyAllowance: balance.monthlyAllowance,
        allowanceRemaining: balance.allowanceRemaining,
        packs: balance.packs,
        creditsRemaining: balance.remaining,
        creditsReserved: balance.reserved,
      });
    });
}

function addAudit(credits: Command): void {
  credits
    .command('audit')
    .description(
      'recompute the ledger from the streams alone, and compare it with the tables and with the quotes; ' +
        'exit code 1 if something differs',
    )
    .requiredOption('--account <id>', 'the account', id)
    .option('--json', 'print one JSON object instead of a table')
    .action(async ({ account, json = false }: { account: string; json?: boolean }) => {
      const report = await withBus(process.env, (bus) =>
        withDatabase(process.env, async (database) => audit(await readAccount(bus, database, account))),
      );
      if (report.movements === 0 && report.agrees) throw Refusal.notFound('account');
      if (json) print(report);
      else process.stdout.write(auditText(report));
      if (!report.agrees) process.exitCode = 1;
    });
}
