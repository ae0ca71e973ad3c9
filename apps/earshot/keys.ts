import { create } from '@bufbuild/protobuf';
import { InvalidArgumentError, type Command } from 'commander';
import { CreateKeySchema, LimitKeySchema, RevokeKeySchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { id, instant, print } from './arguments.js';
import { withBus, withDatabase } from './connection.js';
import { sendCommand } from './send-command.js';

interface NewKeyOptions {
  account: string;
  name: string;
  scope: string;
  expiresAt?: string;
  mcpDailyCredits?: number;
}

interface LimitOptions {
  account: string;
  key: string;
  mcpDailyCredits?: number;
}

/** Adds the commands `keys create|list|limit|revoke`. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('manage the API keys of an account');
  keys
    .command('create')
    .description('create another key; print {keyId, apiKey}; the key is shown only once')
    .requiredOption('--account <id>', 'the account', id)
    .option('--name <name>', 'name of the key', 'key')
    .option('--scope <scope>', 'read or write', 'write')
    .option('--expires-at <instant>', 'ISO 8601; default: never', instant)
    .option(
      '--mcp-daily-credits <n>',
      'maximum credits a day through MCP; default: MCP_DAILY_CREDITS',
      dailyCredits,
    )
    .action(async (options: NewKeyOptions) => {
      const { account, name, scope, expiresAt = '', mcpDailyCredits } = options;
      const limit = mcpDailyCredits === undefined ? {} : { mcpDailyCredits };
      const made = await withBus(process.env, (bus) =>
        sendCommand(
          bus,
          COMMANDS.createKey,
          create(CreateKeySchema, {
            commandId: newId(),
            accountId: account,
            name,
            scope,
            expiresAt,
            ...limit,
          }),
        ),
      );
      print({ keyId: made.keyId, apiKey: made.apiKey });
    });
  keys
    .command('list')
    .description(
      'print one line of JSON for each key, also for revoked keys; the keys themselves are not stored',
    )
    .requiredOption('--account <id>', 'the account', id)
    .action(async ({ account }: { account: string }) => {
      const found: object[] = await withDatabase(process.env, (database) =>
        database.query(
          `SELECT key_id AS "keyId", name, scope, mcp_daily_credits AS "mcpDailyCredits", created_at AS "createdAt", expires_at AS "expiresAt",
             revoked_at AS "revokedAt", uses.last_used_at AS "lastUsedAt"
           FROM api_keys LEFT JOIN api_key_uses AS uses USING (key_id) WHERE account_id = $1 ORDER BY created_at`,
          [account],
        ),
      );
      found.forEach(print);
    });
  keys
    .command('limit')
    .description(
      'change how many credits a key may spend in a UTC day through MCP; the previous limit can apply for up to 5 seconds',
    )
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--key <id>', 'the id of the key', id)
    .option(
      '--mcp-daily-credits <n>',
      'maximum credits a day through MCP; default: MCP_DAILY_CREDITS',
      dailyCredits,
    )
    .action(async ({ account, key, mcpDailyCredits }: LimitOptions) => {
      const limit = mcpDailyCredits === undefined ? {} : { mcpDailyCredits };
      const command = { commandId: newId(), accountId: account, keyId: key, ...limit };
      await withBus(process.env, (bus) =>
        sendCommand(bus, COMMANDS.limitKey, create(LimitKeySchema, command)),
      );
      print({ keyId: key, mcpDailyCredits: mcpDailyCredits ?? null });
    });
  keys
    .command('revoke')
    .description('revoke a key; gateways can accept it for up to 5 seconds')
    .requiredOption('--account <id>', 'the account', id)
    .requiredOption('--key <id>', 'the id of the key', id)
    .action(async ({ account, key }: { account: string; key: string }) => {
      await withBus(process.env, (bus) =>
        sendCommand(
          bus,
          COMMANDS.revokeKey,
          create(RevokeKeySchema, { commandId: newId(), accountId: account, keyId: key }),
        ),
      );
      print({ keyId: key, revoked: true });
    });
}

function dailyCredits(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number below 1,000,000,000.');
  return Number(text);
}
