import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import {
  AccountDecisionSchema,
  CreatedKeySchema,
  DoneSchema,
  OpenedAccountSchema,
  RotatedSigningSecretSchema,
  type AccountDecision,
  type AccountEvent,
  type ChangeAccount,
  type ChangePlan,
  type CreateKey,
  type OpenAccount,
  type RevokeKey,
  type RotateSigningSecret,
} from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, newId, Refusal, systemClock } from '#kernel';
import { COMMANDS, commandHandler, type CommandHandler } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import { hashApiKey, newApiKey, newSigningSecret, SecretBox } from '#secrets';
import {
  decide,
  evolve,
  noAccount,
  requireOpen,
  type AccountCommand,
  type AccountState,
  type NewKey,
} from '../domain/account.js';
import { LedgersHandler } from './ledgers.handler.js';
import { accountsProjection } from '../projections/accounts.projection.js';

const accounts: Aggregate<AccountState, AccountEvent, AccountDecision> = {
  stream: 'ACCOUNTS',
  initial: noAccount,
  evolve,
  decode: (data) => fromBinary(AccountDecisionSchema, data),
  encode: (decision) => toBinary(AccountDecisionSchema, decision),
};

/** Carries out the commands on accounts and keys. A key and a signing secret leave in clear once: in the answer. */
@Injectable()
export class AccountsHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly box: SecretBox,
    private readonly ledgers: LedgersHandler,
  ) {}

  commands(): CommandHandler[] {
    return [
      commandHandler(COMMANDS.openAccount, (command) => this.open(command)),
      commandHandler(COMMANDS.createKey, (command) => this.createKey(command)),
      commandHandler(COMMANDS.revokeKey, (command) => this.revokeKey(command)),
      commandHandler(COMMANDS.changePlan, (command) => this.changePlan(command)),
      commandHandler(COMMANDS.changeAccount, (command) => this.changeAccount(command)),
      commandHandler(COMMANDS.rotateSigningSecret, (command) => this.rotateSigningSecret(command)),
    ];
  }

  /** Seals the account's secrets under the present MASTER_KEY. @throws Error when none of the keys opens them */
  async resealSecrets(accountId: string): Promise<void> {
    const reseal = (sealed: Uint8Array) => (sealed.length > 0 ? this.box.reseal(sealed) : undefined);
    await this.run(accountId, newId(), { kind: 'reseal-secrets', reseal });
  }

  private async open({ commandId, email, plan }: OpenAccount) {
    const accountId = newId();
    const signingSecret = newSigningSecret();
    const { apiKey, key } = makeKey('first key', 'write', '');
    const signingSecretEncrypted = this.box.seal(signingSecret);
    await this.run(accountId, commandId, { kind: 'open', email, plan, signingSecretEncrypted, key }, (tx) =>
      requireFreeEmail(tx, email),
    );
    // Whoever is told of the account finds its credits there.
    await this.ledgers.follow([accountId]);
    return create(OpenedAccountSchema, { accountId, apiKey, signingSecret });
  }

  private async createKey({ commandId, accountId, name, scope, expiresAt }: CreateKey) {
    const { apiKey, key } = makeKey(name, scope, expiresAt);
    await this.run(accountId, commandId, { kind: 'create-key', key, now: isoOf(systemClock.now()) });
    return create(CreatedKeySchema, { keyId: key.keyId, apiKey });
  }

  private async revokeKey({ commandId, accountId, keyId }: RevokeKey) {
    await this.run(accountId, commandId, { kind: 'revoke-key', keyId });
    return create(DoneSchema);
  }

  private async changePlan({ commandId, accountId, plan }: ChangePlan) {
    await this.run(accountId, commandId, { kind: 'change-plan', plan });
    await this.ledgers.follow([accountId]);
    return create(DoneSchema);
  }

  private async changeAccount({ commandId, accountId, ...settings }: ChangeAccount) {
    await this.run(accountId, commandId, { kind: 'change-account', settings });
    return create(DoneSchema);
  }

  private async rotateSigningSecret({ commandId, accountId }: RotateSigningSecret) {
    const signingSecret = newSigningSecret();
    const now = isoOf(systemClock.now());
    const signingSecretEncrypted = this.box.seal(signingSecret);
    const command = { kind: 'rotate-signing-secret', signingSecretEncrypted, now } as const;
    const account = await this.run(accountId, commandId, command);
    const { previousValidUntil } = requireOpen(account);
    return create(RotatedSigningSecretSchema, { signingSecret, previousValidUntil });
  }

  private run(
    accountId: string,
    commandId: string,
    command: AccountCommand,
    before: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<AccountState> {
    return execute(this.database, this.store, {
      aggregate: accounts,
      projection: accountsProjection,
      accountId,
      subjectTokens: [],
      commandId,
      async decide(state, tx) {
        await before(tx);
        return decide(command, state);
      },
      decisionOf: (events) =>
        create(AccountDecisionSchema, { commandId, accountId, decidedAt: isoOf(systemClock.now()), events }),
    });
  }
}

/** One address, one account: a lock on the address keeps two that open at once apart. */
async function requireFreeEmail(tx: Tx, email: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended(lower($1), 1))', [email]);
  const taken: unknown[] = await tx.query('SELECT 1 FROM accounts WHERE lower(email) = lower($1)', [email]);
  if (taken.length > 0) throw Refusal.conflict('an account with this e-mail address exists already');
}

function makeKey(name: string, scope: string, expiresAt: string): { apiKey: string; key: NewKey } {
  const apiKey = newApiKey();
  return { apiKey, key: { keyId: newId(), name, keyHash: hashApiKey(apiKey), scope, expiresAt } };
}
