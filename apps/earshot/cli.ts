import { Command } from 'commander';
import { create } from '@bufbuild/protobuf';
import {
  ChangeAccountSchema,
  ChangePlanSchema,
  OpenAccountSchema,
  RotateSigningSecretSchema,
} from '#contracts';
import { SETTINGS } from '#config';
import { isoOf, newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { AccountEntity } from '#postgres';
import { failureText, id, print, wholeNumber } from './arguments.js';
import { withBus, withDatabase } from './connection.js';
import { addCreditCommands } from './credits.js';
import { addDoctorCommand } from './doctor/doctor-command.js';
import { addEmbeddingsCommands } from './embeddings/embeddings-commands.js';
import { addKeyCommands } from './keys.js';
import { addKeywordCommands } from './monitoring/keyword-commands.js';
import { addTailCommand } from './monitoring/tail-command.js';
import { addMasterKeyCommands } from './master-key-commands.js';
import { addMemberCommands } from './members.js';
import { listParked, retryParked } from './parked.js';
import { addProjectionCommands } from './projections.js';
import { addStreamCommands } from './streams.js';
import { sourceSettings } from '#sources';
import { CommandClient } from '#transport';

const program = new Command('cli')
  .description('Manages a running Earshot. Finds it by DATA_DIR, or by NATS_URL and DATABASE_URL.')
  .showHelpAfterError();

const accounts = program.command('accounts').description('manage accounts and their plans');
accounts
  .command('create')
  .description('create an account; print {accountId, apiKey, signingSecret}, which are shown only once')
  .requiredOption('--email <email>', 'e-mail address of the owner')
  .option('--plan <plan>', 'free, solo, growth, pro or unlimited', 'unlimited')
  .action(async ({ email, plan }: { email: string; plan: string }) => {
    const opened = await withBus(process.env, (bus) =>
      new CommandClient(bus).request(
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
    'change the plan of an account at once; the new allowance is reduced by what this period has used',
  )
  .requiredOption('--account <id>', 'the account', id)
  .requiredOption('--plan <plan>', 'free, solo, growth, pro or unlimited')
  .action(async ({ account, plan }: { account: string; plan: string }) => {
    const command = create(ChangePlanSchema, { commandId: newId(), accountId: account, plan });
    await withBus(process.env, (bus) => new CommandClient(bus).request(COMMANDS.changePlan, command));
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
      new CommandClient(bus).request(COMMANDS.changeAccount, create(ChangeAccountSchema, command)),
    );
    print({ accountId: account, signatureVersion });
  });

program
  .command('signing-secret')
  .description("manage the secret that signs an account's webhooks")
  .command('rotate')
  .description(
    'create a new secret; print {signingSecret, previousValidUntil}, which are shown only once. Deliveries are signed ' +
      'with both secrets for 24 hours; a second rotation within 24 hours ends the oldest secret at once',
  )
  .requiredOption('--account <id>', 'the account', id)
  .action(async ({ account }: { account: string }) => {
    const command = create(RotateSigningSecretSchema, { commandId: newId(), accountId: account });
    const { signingSecret, previousValidUntil } = await withBus(process.env, (bus) =>
      new CommandClient(bus).request(COMMANDS.rotateSigningSecret, command),
    );
    print({ signingSecret, previousValidUntil });
  });

addMasterKeyCommands(program);

addKeyCommands(program);
addMemberCommands(program);
addCreditCommands(program);
addStreamCommands(program);
addProjectionCommands(program);
addDoctorCommand(program);
addEmbeddingsCommands(program);
addTailCommand(program);
addKeywordCommands(program);

const parked = program
  .command('parked')
  .description('manage messages that could not be processed and were set aside');
parked
  .command('list')
  .description('print one line of JSON for each message')
  .action(async () => {
    for (const message of await withBus(process.env, listParked)) print(message);
  });
parked
  .command('retry')
  .description('send a parked message to its consumer again')
  .argument('<seq>', 'number of the message in parked list', wholeNumber)
  .action(async (seq: number) => {
    print(await withBus(process.env, (bus) => retryParked(bus, seq)));
  });

program
  .command('config')
  .description('print every setting with its default')
  .action(() => {
    const width = Math.max(...Object.keys(SETTINGS).map((name) => name.length));
    for (const [name, spec] of Object.entries(SETTINGS)) {
      const { default: fallback, desc } = spec as { default?: unknown; desc?: string };
      const value = fallback === undefined || fallback === '' ? '(unset)' : String(fallback);
      process.stdout.write(`${name.padEnd(width)}  ${value.padEnd(9)}  ${desc ?? ''}\n`);
    }
    const ofSources = sourceSettings();
    const wide = Math.max(...ofSources.map(({ name }) => name.length));
    process.stdout.write(`
For each source (ID in capitals, for example SOURCE_REDDIT_URL):
  SOURCE_<ID>_URL      replaces scheme, host and port of its requests
  SOURCE_<ID>_ENABLED  false disables the source; vinted is disabled unless this is true
  SOURCE_<ID>_LANES    number of lanes that share its work; each lane belongs to one polling replica

Credentials of the sources (docs/sources describes how to get them):
${ofSources.map(({ name, description }) => `  ${name.padEnd(wide)}  ${description}`).join('\n')}
`);
  });

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${failureText(error)}\n`);
  process.exitCode = 1;
});
