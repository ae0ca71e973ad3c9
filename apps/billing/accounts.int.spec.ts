import { create, toBinary } from '@bufbuild/protobuf';
import {
  AcceptInvitationSchema,
  AccountDecisionSchema,
  ChangeAccountSchema,
  ChangePasswordSchema,
  CreateKeySchema,
  InviteMemberSchema,
  OpenAccountSchema,
  RemoveMemberSchema,
  RotateSigningSecretSchema,
} from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, subjectOf } from '#messaging';
import { AccountEntity } from '#postgres';
import { rebuildProjection } from '#projections';
import { SecretBox } from '#secrets';
import { until } from '#testing';
import { CommandClient } from '#transport';
import { accountsProjection } from './projections/accounts.projection.js';
import { startBilling, type BillingUnderTest } from './testing/billing-under-test.js';

let billing: BillingUnderTest;
const box = new SecretBox('5e'.repeat(32));

beforeAll(async () => {
  billing = await startBilling();
});
afterAll(() => billing?.stop());

function account(accountId: string) {
  return billing.database.getRepository(AccountEntity).findOneByOrFail({ accountId });
}

describe('rotating a signing secret', () => {
  it('stores the new secret and keeps the previous secret for 24 hours', async () => {
    const accountId = await billing.open();
    const before = await account(accountId);
    const command = create(RotateSigningSecretSchema, { commandId: newId(), accountId });
    const answer = await new CommandClient(billing.bus).request(COMMANDS.rotateSigningSecret, command);
    const after = await account(accountId);
    expect(box.open(after.signingSecretEncrypted)).toBe(answer.signingSecret);
    expect(answer.signingSecret).not.toBe(box.open(before.signingSecretEncrypted));
    expect(after.previousSigningSecretEncrypted).toEqual(before.signingSecretEncrypted);
    expect(after.previousSigningSecretValidUntil?.toISOString()).toBe(answer.previousValidUntil);
    const validForMs = Date.parse(answer.previousValidUntil) - Date.now();
    expect(Math.round(validForMs / 3_600_000)).toBe(24);
  });

  it('is refused as not found for an unknown account', async () => {
    const command = create(RotateSigningSecretSchema, { commandId: newId(), accountId: newId() });
    await expect(
      new CommandClient(billing.bus).request(COMMANDS.rotateSigningSecret, command),
    ).rejects.toMatchObject({
      kind: 'not-found',
    });
  });
});

describe('changing the signature version', () => {
  it('stores `legacy` and `v1`, and refuses other values with an error that names the field', async () => {
    const accountId = await billing.open();
    const change = (signatureVersion: string) =>
      new CommandClient(billing.bus).request(
        COMMANDS.changeAccount,
        create(ChangeAccountSchema, { commandId: newId(), accountId, signatureVersion }),
      );
    expect((await account(accountId)).signatureVersion).toBe('v1');
    await change('legacy');
    expect((await account(accountId)).signatureVersion).toBe('legacy');
    await change('v1');
    expect((await account(accountId)).signatureVersion).toBe('v1');
    await expect(change('v3')).rejects.toMatchObject({
      kind: 'invalid',
      details: [{ path: 'signature_version' }],
    });
  });
});

it('a key of an older release that expires in the year 10000 does not stop the changes of its account', async () => {
  const accountId = await billing.open();
  const [keyId, commandId] = [newId(), newId()];
  const key = { keyId, name: 'k', keyHash: Buffer.from(keyId), expiresAt: '+010000-01-01T00:00:59.000Z' };
  const decision = create(AccountDecisionSchema, {
    ...{ commandId, accountId, decidedAt: new Date().toISOString() },
    events: [{ event: { case: 'apiKeyCreated', value: { ...key, scope: 'read' } } }],
  });
  const subject = subjectOf('ACCOUNTS', accountId);
  const seq = await billing.store.lastSeq('ACCOUNTS', subject);
  await billing.store.append(subject, toBinary(AccountDecisionSchema, decision), seq, commandId);
  await until('the key is stored', async () => {
    const rows: unknown[] = await billing.database.query('SELECT 1 FROM api_keys WHERE key_id = $1', [keyId]);
    return rows.length === 1;
  });
});

describe('members', () => {
  it('do not change when the tables are rebuilt; invitations and keys do not change either', async () => {
    const commands = new CommandClient(billing.bus);
    const accountId = await billing.open();
    const invite = (email: string) =>
      commands.request(
        COMMANDS.inviteMember,
        create(InviteMemberSchema, { commandId: newId(), accountId, email, role: 'owner' }),
      );
    const accept = (code: string, email: string) =>
      commands.request(
        COMMANDS.acceptInvitation,
        create(AcceptInvitationSchema, { commandId: newId(), code, email, passwordHash: 'h1' }),
      );
    const ada = await accept((await invite('ada@example.org')).code, 'ada@example.org');
    const bob = await accept((await invite('bob@example.org')).code, 'bob@example.org');
    await invite('cy@example.org');
    await commands.request(
      COMMANDS.createKey,
      create(CreateKeySchema, {
        commandId: newId(),
        accountId,
        name: 'k',
        scope: 'write',
        memberId: bob.memberId,
      }),
    );
    const changed = await commands.request(
      COMMANDS.changePassword,
      create(ChangePasswordSchema, {
        commandId: newId(),
        accountId,
        memberId: ada.memberId,
        passwordHash: 'h2',
        previousHash: 'h1',
      }),
    );
    expect(changed.passwordVersion).toBe(2);
    await commands.request(
      COMMANDS.removeMember,
      create(RemoveMemberSchema, { commandId: newId(), accountId, memberId: bob.memberId }),
    );
    const rows = async () => {
      const read = (table: string, id: string): Promise<object[]> =>
        billing.database.query(`SELECT * FROM ${table} WHERE account_id = $1 ORDER BY ${id}`, [accountId]);
      return {
        members: await read('members', 'member_id'),
        invitations: await read('invitations', 'invitation_id'),
        keys: await read('api_keys', 'key_id'),
      };
    };
    const before = await rows();
    expect(before.members).toMatchObject([
      { email: 'ada@example.org', password_hash: 'h2', password_version: 2, removed_at: null },
      { email: 'bob@example.org', removed_at: expect.any(Date) as Date },
    ]);
    expect(before.keys).toMatchObject([{ member_id: null }, { revoked_at: expect.any(Date) as Date }]);
    const { rebuild } = accountsProjection;
    if (!rebuild) throw new Error('the tables of accounts cannot be rebuilt');
    await rebuildProjection(billing.database, billing.bus, { ...accountsProjection, rebuild });
    expect(await rows()).toEqual(before);
  });

  it('belong to one account: if one address accepts the invitations of two accounts at the same time, one is refused', async () => {
    const commands = new CommandClient(billing.bus);
    const email = 'one@example.org';
    const codes = await Promise.all(
      [await billing.open(), await billing.open()].map(async (accountId) => {
        const command = create(InviteMemberSchema, { commandId: newId(), accountId, email, role: 'viewer' });
        return (await commands.request(COMMANDS.inviteMember, command)).code;
      }),
    );
    const answers = await Promise.allSettled(
      codes.map((code) =>
        commands.request(
          COMMANDS.acceptInvitation,
          create(AcceptInvitationSchema, { commandId: newId(), code, email, passwordHash: 'h' }),
        ),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('repeated commands', () => {
  it('open no second account: the second opening is refused, and its message names the account that the first opening created', async () => {
    const commands = new CommandClient(billing.bus);
    const email = `${newId()}@example.org`;
    const command = create(OpenAccountSchema, { commandId: newId(), email, plan: 'free' });
    const { accountId } = await commands.request(COMMANDS.openAccount, command);
    await expect(commands.request(COMMANDS.openAccount, command)).rejects.toMatchObject({
      kind: 'conflict',
      message:
        'this account was created by an earlier attempt, whose answer was lost; create a key with ' +
        `keys create --account ${accountId}`,
    });
    expect(await billing.database.getRepository(AccountEntity).countBy({ email })).toBe(1);
  });

  it('create no second owner: the second opening of an account with a password returns the same account and the same member', async () => {
    const commands = new CommandClient(billing.bus);
    const email = `${newId()}@example.org`;
    const command = create(OpenAccountSchema, {
      ...{ commandId: newId(), email, plan: 'free', passwordHash: 'h', mustBeFirst: false },
    });
    const { accountId, memberId } = await commands.request(COMMANDS.openAccount, command);
    expect(await commands.request(COMMANDS.openAccount, command)).toMatchObject({ accountId, memberId });
    expect(await billing.database.query('SELECT member_id FROM members WHERE email = $1', [email])).toEqual([
      { member_id: memberId },
    ]);
  });

  it('create no second secret: a second creation of a key is refused, and a second rotation returns the secret of the first rotation', async () => {
    const commands = new CommandClient(billing.bus);
    const accountId = await billing.open();
    const key = create(CreateKeySchema, { commandId: newId(), accountId, name: 'k', scope: 'read' });
    await commands.request(COMMANDS.createKey, key);
    await expect(commands.request(COMMANDS.createKey, key)).rejects.toMatchObject({ kind: 'conflict' });
    const rotation = create(RotateSigningSecretSchema, { commandId: newId(), accountId });
    const first = await commands.request(COMMANDS.rotateSigningSecret, rotation);
    const second = await commands.request(COMMANDS.rotateSigningSecret, rotation);
    expect(second.signingSecret).toBe(first.signingSecret);
  });
});
