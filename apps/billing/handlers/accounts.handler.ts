import { create } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import {
  CreatedKeySchema,
  DoneSchema,
  OpenedAccountSchema,
  RotatedSigningSecretSchema,
  type ChangeAccount,
  type ChangePlan,
  type CreateKey,
  type LimitKey,
  type OpenAccount,
  type RenameKey,
  type RevokeKey,
  type RotateSigningSecret,
} from '#contracts';
import { derivedId, isoOf, newId, Refusal, systemClock } from '#kernel';
import { COMMANDS } from '#messaging';
import type { Tx } from '#postgres';
import { hashApiKey, newApiKey, newSigningSecret, sameHash, SecretBox } from '#secrets';
import { CommandPattern } from '#transport';
import { requireOpen } from '../domain/account.js';
import type { NewKey } from '../domain/api-keys.js';
import { AccountLedgers } from '../ledger/account-ledgers.js';
import { AccountDecisions } from './account-decisions.js';
import { requireUnusedEmail } from './unused-email.js';

/**
 * Executes the commands on accounts and keys. A key in clear text is returned only in the reply of its creation. A
 * signing secret is stored encrypted, and can be shown again.
 */
@Controller()
export class AccountsHandler {
  constructor(
    private readonly decisions: AccountDecisions,
    private readonly ledgers: AccountLedgers,
    private readonly box: SecretBox,
  ) {}

  @CommandPattern(COMMANDS.openAccount)
  async open({ commandId, email, plan, name, passwordHash, mustBeFirst }: OpenAccount) {
    // The ids are derived from the command, so that a repetition of the command finds the account.
    const accountId = commandId;
    const signingSecretEncrypted = this.box.seal(newSigningSecret());
    const { apiKey, key } = makeKey(newId(), 'first key', 'write', '', '', undefined);
    const memberId = passwordHash === '' ? '' : derivedId('first member', accountId);
    const first = memberId === '' ? { key } : { owner: { memberId, passwordHash } };
    const account = await this.decisions.run(
      accountId,
      commandId,
      { kind: 'open', email, plan, name, signingSecretEncrypted, with: first },
      async (tx) => {
        if (mustBeFirst) await requireNoAccount(tx);
        await requireUnusedEmail(tx, email);
      },
    );
    // The ledger is opened before the reply, because the caller must then find the credits of the account.
    await this.ledgers.update([accountId]);
    const { keys, signingSecret } = requireOpen(account);
    if (memberId === '' && !keys.has(key.keyId))
      throw Refusal.conflict(
        'this account was created by an earlier attempt, whose answer was lost; ' +
          `create a key with keys create --account ${accountId}`,
      );
    return create(OpenedAccountSchema, {
      accountId,
      apiKey: memberId === '' ? apiKey : '',
      signingSecret: this.box.open(signingSecret),
      memberId,
    });
  }

  @CommandPattern(COMMANDS.createKey)
  async createKey({ commandId, accountId, ...fields }: CreateKey) {
    const { name, scope, expiresAt, memberId, mcpDailyCredits } = fields;
    const { apiKey, key } = makeKey(commandId, name, scope, expiresAt, memberId, mcpDailyCredits);
    const now = isoOf(systemClock.now());
    const account = await this.decisions.run(accountId, commandId, { kind: 'create-key', key, now });
    const stored = requireOpen(account).keys.get(commandId);
    if (!stored || !sameHash(Buffer.from(stored.keyHash), Buffer.from(key.keyHash)))
      throw Refusal.conflict(
        'this key was created by an earlier attempt, whose answer was lost; revoke it, and create another',
      );
    return create(CreatedKeySchema, { keyId: key.keyId, apiKey });
  }

  @CommandPattern(COMMANDS.renameKey)
  async renameKey({ commandId, accountId, keyId, name, ofMember }: RenameKey) {
    await this.decisions.run(accountId, commandId, { kind: 'rename-key', keyId, name, ofMember });
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.limitKey)
  async limitKey({ commandId, accountId, keyId, mcpDailyCredits, ofMember }: LimitKey) {
    const command = { kind: 'limit-key', keyId, mcpDailyCredits, ofMember } as const;
    await this.decisions.run(accountId, commandId, command);
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.revokeKey)
  async revokeKey({ commandId, accountId, keyId, ofMember }: RevokeKey) {
    await this.decisions.run(accountId, commandId, { kind: 'revoke-key', keyId, ofMember });
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.changePlan)
  async changePlan({ commandId, accountId, plan }: ChangePlan) {
    await this.decisions.run(accountId, commandId, { kind: 'change-plan', plan });
    await this.ledgers.update([accountId]);
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.changeAccount)
  async changeAccount({ commandId, accountId, ...settings }: ChangeAccount) {
    await this.decisions.run(accountId, commandId, { kind: 'change-account', settings });
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.rotateSigningSecret)
  async rotateSigningSecret({ commandId, accountId }: RotateSigningSecret) {
    const now = isoOf(systemClock.now());
    const signingSecretEncrypted = this.box.seal(newSigningSecret());
    const command = { kind: 'rotate-signing-secret', signingSecretEncrypted, now } as const;
    const account = await this.decisions.run(accountId, commandId, command);
    // If the command is a repetition, this is the secret that the first attempt created.
    const { previousValidUntil, signingSecret: stored } = requireOpen(account);
    return create(RotatedSigningSecretSchema, { signingSecret: this.box.open(stored), previousValidUntil });
  }
}

/**
 * Requires that no account exists. Concurrent sign-ups for the first account wait for each other.
 * @throws Refusal `conflict`
 */
async function requireNoAccount(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('first account', 1))`);
  const known: unknown[] = await tx.query('SELECT 1 FROM accounts LIMIT 1');
  if (known.length > 0) throw Refusal.conflict('this installation has an account already');
}

function makeKey(
  keyId: string,
  name: string,
  scope: string,
  expiresAt: string,
  memberId: string,
  mcpDailyCredits: number | undefined,
): { apiKey: string; key: NewKey } {
  const apiKey = newApiKey();
  const keyHash = hashApiKey(apiKey);
  return { apiKey, key: { keyId, name, keyHash, scope, expiresAt, memberId, mcpDailyCredits } };
}
