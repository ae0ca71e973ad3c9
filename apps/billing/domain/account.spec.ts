import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { AccountEventSchema, PLANS } from '#contracts';
import { givenFor } from '#testing';
import { decide, evolve, noAccount, type AccountCommand, type AccountSettings } from './account.js';
import type { NewKey } from './api-keys.js';

const event = (init: MessageInitShape<typeof AccountEventSchema>['event']) =>
  create(AccountEventSchema, { event: init });
const key = (more: Partial<NewKey> = {}): NewKey => ({
  keyId: 'k1',
  name: 'first',
  keyHash: new Uint8Array([1]),
  scope: 'write',
  expiresAt: '',
  memberId: '',
  ...more,
});
const secret = new Uint8Array([9]);
const open: Extract<AccountCommand, { kind: 'open' }> = {
  kind: 'open',
  email: 'ada@example.org',
  plan: 'free',
  name: '',
  signingSecretEncrypted: secret,
  with: { key: key() },
};
const opened = event({
  case: 'accountOpened',
  value: { email: 'ada@example.org', plan: 'free', signingSecretEncrypted: secret },
});
const keyCreated = (more: Partial<NewKey> = {}) => event({ case: 'apiKeyCreated', value: key(more) });
const keyRevoked = (keyId = 'k1') => event({ case: 'apiKeyRevoked', value: { keyId } });
const now = '2026-03-04T12:00:00.000Z';

const given = givenFor({ decide, evolve, initial: noAccount });

describe('an account', () => {
  it('is opened with its first key', () => given().when(open).then([opened, keyCreated()]));

  it('is opened on every plan of the price book', () => {
    for (const plan of PLANS)
      given()
        .when({ ...open, plan })
        .then([
          event({
            case: 'accountOpened',
            value: { email: 'ada@example.org', plan, signingSecretEncrypted: secret },
          }),
          keyCreated(),
        ]);
  });

  it('cannot be opened twice', () => given(opened).when(open).then({ kind: 'conflict', paths: [] }));

  it('is not opened on an unknown plan or with an invalid address, and both faults are reported', () =>
    given()
      .when({ ...open, plan: 'gold', email: 'ada' })
      .then({ kind: 'invalid', paths: ['plan', 'email'] }));

  it.each(['', 'a', '@', 'a@', '@b', 'a b@c', 'a@b@c'])('is not opened with the address %j', (email) =>
    given()
      .when({ ...open, email })
      .then({ kind: 'invalid', paths: ['email'] }),
  );
});

describe('API keys', () => {
  const add = (more: Partial<NewKey> = {}): AccountCommand => ({
    kind: 'create-key',
    key: key({ keyId: 'k2', ...more }),
    now,
  });

  it('are added to an open account', () =>
    given(opened)
      .when(add())
      .then([keyCreated({ keyId: 'k2' })]));

  it('cannot be added to an account that does not exist', () =>
    given().when(add()).then({ kind: 'not-found', paths: [] }));

  it.each(['', 'admin', 'WRITE'])('cannot have the scope %j', (scope) =>
    given(opened)
      .when(add({ scope }))
      .then({ kind: 'invalid', paths: ['scope'] }),
  );

  it('can expire in the future', () =>
    given(opened)
      .when(add({ expiresAt: '2026-03-04T12:00:00.001Z' }))
      .then([keyCreated({ keyId: 'k2', expiresAt: '2026-03-04T12:00:00.001Z' })]));

  it.each([
    now,
    '2020-01-01T00:00:00.000Z',
    '2026-03-04T13:00:00+02:00',
    '9999-12-31T23:59:59-00:01',
    'soon',
    '9',
  ])('cannot expire at %j', (expiresAt) =>
    given(opened)
      .when(add({ expiresAt }))
      .then({ kind: 'invalid', paths: ['expires_at'] }),
  );

  it('expire at the given instant if their expiry has a time zone offset', () =>
    given(opened)
      .when(add({ expiresAt: '2026-03-04T10:30:00-02:00' }))
      .then([keyCreated({ keyId: 'k2', expiresAt: '2026-03-04T12:30:00.000Z' })]));

  it('expire in UTC if their expiry has no offset, whatever the time zone of the machine is', () => {
    const ownZone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      given(opened)
        .when(add({ expiresAt: '2026-03-05T12:30:00' }))
        .then([keyCreated({ keyId: 'k2', expiresAt: '2026-03-05T12:30:00.000Z' })]);
    } finally {
      if (ownZone === undefined) delete process.env.TZ;
      else process.env.TZ = ownZone;
    }
  });

  it('can have a daily limit for the credits that they spend through MCP, and the limit can be removed', () => {
    const limit = (mcpDailyCredits?: number) =>
      ({ kind: 'limit-key', keyId: 'k1', mcpDailyCredits, ofMember: '' }) as const;
    const limited = (value: object) => event({ case: 'apiKeyLimited', value: { keyId: 'k1', ...value } });
    const key = [opened, keyCreated({ mcpDailyCredits: 5 })];
    given(...key)
      .when(limit(5))
      .then([]);
    given(...key)
      .when(limit(0))
      .then([limited({ mcpDailyCredits: 0 })]);
    given(...key)
      .when(limit())
      .then([limited({})]);
    given(...key, limited({}))
      .when(limit())
      .then([]);
    for (const wrong of [-1, 1_000_000_001])
      given(...key)
        .when(limit(wrong))
        .then({ kind: 'invalid', paths: ['mcp_daily_credits'] });
  });

  it('can be revoked', () =>
    given(opened, keyCreated()).when({ kind: 'revoke-key', keyId: 'k1', ofMember: '' }).then([keyRevoked()]));

  it('stay unchanged if they are revoked a second time', () =>
    given(opened, keyCreated(), keyRevoked())
      .when({ kind: 'revoke-key', keyId: 'k1', ofMember: '' })
      .then([]));

  it('cannot be revoked if they do not exist', () =>
    given(opened, keyCreated())
      .when({ kind: 'revoke-key', keyId: 'k9', ofMember: '' })
      .then({ kind: 'not-found', paths: [] }));
});

describe('signing secrets', () => {
  const rotated = (secretByte: number, previousValidUntil = '2026-03-05T12:00:00.000Z') =>
    event({
      case: 'signingSecretRotated',
      value: { signingSecretEncrypted: new Uint8Array([secretByte]), previousValidUntil },
    });
  const resealed = (current: number[], previous: number[]) =>
    event({
      case: 'secretsResealed',
      value: {
        signingSecretEncrypted: new Uint8Array(current),
        previousSigningSecretEncrypted: new Uint8Array(previous),
      },
    });
  const reseal: AccountCommand = {
    kind: 'reseal-secrets',
    reseal: ([byte = 0]) => (byte < 100 ? new Uint8Array([byte + 100]) : undefined),
  };

  it('are rotated, and the previous secret stays valid for 24 hours', () =>
    given(opened)
      .when({ kind: 'rotate-signing-secret', signingSecretEncrypted: new Uint8Array([7]), now })
      .then([rotated(7)]));

  it('cannot be rotated for an account that does not exist', () =>
    given()
      .when({ kind: 'rotate-signing-secret', signingSecretEncrypted: secret, now })
      .then({ kind: 'not-found', paths: [] }));

  it('are encrypted again with a new master key, together with the previous secrets', () => {
    given(opened)
      .when(reseal)
      .then([resealed([109], [])]);
    given(opened, rotated(7))
      .when(reseal)
      .then([resealed([107], [109])]);
  });

  it('do not change if they are already encrypted with the current master key', () =>
    given(opened, rotated(7), resealed([107], [109]))
      .when(reseal)
      .then([]));

  it('are encrypted again separately: a secret with the current master key does not change', () =>
    given(opened, rotated(107))
      .when(reseal)
      .then([resealed([107], [109])]));
});

describe('the signature version', () => {
  const change = (signatureVersion: string | undefined): AccountCommand => ({
    kind: 'change-account',
    settings: { signatureVersion },
  });
  const changed = (signatureVersion: string) =>
    event({ case: 'accountChanged', value: { signatureVersion } });

  it('is v1 at first and can be legacy', () => {
    given(opened).when(change('v1')).then([]);
    given(opened).when(change(undefined)).then([]);
    given(opened)
      .when(change('legacy'))
      .then([changed('legacy')]);
    given(opened, changed('legacy'))
      .when(change('v1'))
      .then([changed('v1')]);
  });

  it.each(['', 'v2', 'LEGACY'])('cannot be %j', (version) =>
    given(opened)
      .when(change(version))
      .then({ kind: 'invalid', paths: ['signature_version'] }),
  );
});

describe('the name and the time zone of an account', () => {
  const change = (settings: AccountSettings): AccountCommand => ({ kind: 'change-account', settings });
  const changed = (value: AccountSettings) =>
    event({ case: 'accountChanged', value: value as Record<string, string> });

  it('are empty and UTC at first, can change together, and do not change if the values are equal', () => {
    given(opened)
      .when(change({ name: '', timezone: 'UTC' }))
      .then([]);
    given(opened)
      .when(change({ name: 'Acme', timezone: 'Europe/Berlin', signatureVersion: 'v1' }))
      .then([changed({ name: 'Acme', timezone: 'Europe/Berlin' })]);
    given(opened, changed({ name: 'Acme' }), changed({ timezone: 'Europe/Berlin' }))
      .when(change({ name: 'Acme', timezone: 'Europe/Berlin' }))
      .then([]);
  });

  it.each(['', 'Mars/Olympus', '+01:00', 'UTC+1'])('do not accept the time zone %j', (timezone) =>
    given(opened)
      .when(change({ timezone }))
      .then({ kind: 'invalid', paths: ['timezone'] }),
  );

  it('do not accept a name with more than 80 characters', () =>
    given(opened)
      .when(change({ name: 'x'.repeat(81) }))
      .then({ kind: 'invalid', paths: ['name'] }));
});
