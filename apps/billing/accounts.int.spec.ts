import { create } from '@bufbuild/protobuf';
import { ChangeAccountSchema, RotateSigningSecretSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { AccountEntity } from '#postgres';
import { SecretBox } from '#secrets';
import { CommandClient } from '#transport';
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
  it('stores the new secret and keeps the previous one for 24 hours', async () => {
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

  it('returns 404 for an unknown account', async () => {
    const command = create(RotateSigningSecretSchema, { commandId: newId(), accountId: newId() });
    await expect(
      new CommandClient(billing.bus).request(COMMANDS.rotateSigningSecret, command),
    ).rejects.toMatchObject({
      kind: 'not-found',
    });
  });
});

describe('changing the signature version', () => {
  it('stores legacy and v1, and refuses other values with an error that names the field', async () => {
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
