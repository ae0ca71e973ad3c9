import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { AccountEventSchema } from '#contracts';
import { givenFor } from '#testing';
import { decide, evolve, noAccount, type AccountCommand } from './account.js';

const event = (init: MessageInitShape<typeof AccountEventSchema>['event']) =>
  create(AccountEventSchema, { event: init });
const now = '2026-03-04T12:00:00.000Z';
const later = '2026-03-11T12:00:00.000Z';
const codeHash = new Uint8Array([1]);

const opened = event({ case: 'accountOpened', value: { email: 'ada@example.org', plan: 'free' } });
const joinedAs = (memberId: string, role: string, more: { invitationId?: string; email?: string } = {}) =>
  event({
    case: 'memberJoined',
    value: { memberId, role, email: `${memberId}@example.org`, passwordHash: `hash of ${memberId}`, ...more },
  });
const invitedAs = (invitationId: string, email = 'bob@example.org', role = 'editor', invitedBy = 'ada') =>
  event({
    case: 'invitationCreated',
    value: { invitationId, email, role, codeHash, expiresAt: later, invitedBy },
  });
const revoked = (invitationId: string) => event({ case: 'invitationRevoked', value: { invitationId } });
const keyOf = (keyId: string, memberId: string) =>
  event({ case: 'apiKeyCreated', value: { keyId, name: 'k', scope: 'write', memberId } });
const keyRevoked = (keyId: string) => event({ case: 'apiKeyRevoked', value: { keyId } });

const given = givenFor({ decide, evolve, initial: noAccount });
const owned = [opened, joinedAs('ada', 'owner')];

describe('a sign-up', () => {
  it('opens an account that has an owner, a name and no key', () =>
    given()
      .when({
        kind: 'open',
        email: 'ada@example.org',
        plan: 'unlimited',
        name: 'Acme',
        signingSecretEncrypted: codeHash,
        with: { owner: { memberId: 'm1', passwordHash: 'h' } },
      })
      .then([
        event({
          case: 'accountOpened',
          value: { email: 'ada@example.org', plan: 'unlimited', signingSecretEncrypted: codeHash },
        }),
        event({ case: 'accountChanged', value: { name: 'Acme' } }),
        event({
          case: 'memberJoined',
          value: { memberId: 'm1', email: 'ada@example.org', role: 'owner', passwordHash: 'h' },
        }),
      ]));
});

describe('an invitation', () => {
  const invite = (
    more: Partial<Extract<AccountCommand, { kind: 'invite-member' }>> = {},
  ): AccountCommand => ({
    kind: 'invite-member',
    invitationId: 'i1',
    email: 'bob@example.org',
    role: 'editor',
    codeHash,
    expiresAt: later,
    invitedBy: 'ada',
    now,
    ...more,
  });
  const accept = (
    more: Partial<Extract<AccountCommand, { kind: 'accept-invitation' }>> = {},
  ): AccountCommand => ({
    kind: 'accept-invitation',
    invitationId: 'i1',
    memberId: 'bob',
    email: 'BOB@example.org',
    passwordHash: 'hash of bob',
    now,
    ...more,
  });

  it('is created for an address that belongs to no member, and ends an earlier invitation of the address', () => {
    given(...owned)
      .when(invite())
      .then([invitedAs('i1')]);
    given(...owned, invitedAs('i0', 'BOB@example.org'))
      .when(invite())
      .then([revoked('i0'), invitedAs('i1')]);
    given(...owned)
      .when(invite({ email: 'ADA@example.org' }))
      .then({ kind: 'conflict', paths: [] });
  });

  it('is refused with an unknown role and an invalid address, and the refusal names both faults', () =>
    given(...owned)
      .when(invite({ role: 'admin', email: 'bob' }))
      .then({ kind: 'invalid', paths: ['email', 'role'] }));

  it('can be made on the command line, also in an account without members', () =>
    given(opened)
      .when(invite({ invitedBy: '' }))
      .then([invitedAs('i1', 'bob@example.org', 'editor', '')]));

  it('is refused if the inviter is not an owner, for example because the inviter was removed or demoted meanwhile', () => {
    for (const bob of [
      [],
      [joinedAs('bob', 'owner'), event({ case: 'memberRemoved', value: { memberId: 'bob' } })],
      [joinedAs('bob', 'editor')],
    ])
      given(...owned, ...bob)
        .when(invite({ invitedBy: 'bob', email: 'eve@example.org' }))
        .then({ kind: 'forbidden', paths: [] });
  });

  it('is revoked when its inviter is removed or is no longer an owner', () => {
    const two = [...owned, joinedAs('bob', 'owner')];
    const invitations = [
      invitedAs('i1', 'eve@example.org', 'owner', 'bob'),
      invitedAs('i2', 'dan@example.org', 'owner', 'bob'),
      revoked('i2'),
      invitedAs('i3', 'kim@example.org'),
    ];
    given(...two, ...invitations)
      .when({ kind: 'remove-member', memberId: 'bob' })
      .then([event({ case: 'memberRemoved', value: { memberId: 'bob' } }), revoked('i1')]);
    given(...two, ...invitations)
      .when({ kind: 'change-member-role', memberId: 'bob', role: 'editor' })
      .then([
        event({ case: 'memberRoleChanged', value: { memberId: 'bob', role: 'editor' } }),
        revoked('i1'),
      ]);
  });

  it('cannot be accepted after its inviter was removed or demoted, also if an earlier version did not revoke it', () => {
    for (const left of [
      event({ case: 'memberRemoved', value: { memberId: 'eve' } }),
      event({ case: 'memberRoleChanged', value: { memberId: 'eve', role: 'editor' } }),
    ])
      given(...owned, joinedAs('eve', 'owner'), invitedAs('i1', 'bob@example.org', 'owner', 'eve'), left)
        .when(accept())
        .then({ kind: 'invalid', paths: ['code'] });
  });

  it('is refused if the account has 200 members and open invitations together', () => {
    const many = Array.from({ length: 199 }, (_, n) => invitedAs(`j${n}`, `n${n}@example.org`));
    given(...owned, ...many)
      .when(invite())
      .then({ kind: 'conflict', paths: [] });
    given(...owned, ...many, revoked('j0'))
      .when(invite())
      .then([invitedAs('i1')]);
  });

  it('can be accepted only once, only by the invited address, and only before it expires', () => {
    const bob = joinedAs('bob', 'editor', { invitationId: 'i1' });
    given(...owned, invitedAs('i1'))
      .when(accept())
      .then([bob]);
    for (const [events, command] of [
      [[invitedAs('i1'), bob], accept()],
      [[invitedAs('i1'), revoked('i1')], accept()],
      [[invitedAs('i1')], accept({ email: 'eve@example.org' })],
      [[invitedAs('i1')], accept({ now: later })],
      [[], accept()],
    ] as const)
      given(...owned, ...events)
        .when(command)
        .then({ kind: 'invalid', paths: ['code'] });
  });

  it('is revoked only once, and cannot be revoked after it was accepted', () => {
    const revoke: AccountCommand = { kind: 'revoke-invitation', invitationId: 'i1' };
    given(...owned, invitedAs('i1'))
      .when(revoke)
      .then([revoked('i1')]);
    given(...owned, invitedAs('i1'), revoked('i1'))
      .when(revoke)
      .then([]);
    given(...owned, invitedAs('i1'), joinedAs('bob', 'editor', { invitationId: 'i1' }))
      .when(revoke)
      .then({ kind: 'not-found', paths: [] });
  });
});

describe('a member', () => {
  const change = (memberId: string, role: string): AccountCommand => ({
    kind: 'change-member-role',
    memberId,
    role,
  });
  const changed = (memberId: string, role: string) =>
    event({ case: 'memberRoleChanged', value: { memberId, role } });
  const remove = (memberId: string): AccountCommand => ({ kind: 'remove-member', memberId });
  const removed = (memberId: string) => event({ case: 'memberRemoved', value: { memberId } });

  it('can get another role, but the last owner stays an owner', () => {
    const two = [...owned, joinedAs('bob', 'viewer')];
    given(...two)
      .when(change('bob', 'editor'))
      .then([changed('bob', 'editor')]);
    given(...two)
      .when(change('bob', 'viewer'))
      .then([]);
    given(...two)
      .when(change('ada', 'editor'))
      .then({ kind: 'conflict', paths: [] });
    given(...two, changed('bob', 'owner'))
      .when(change('ada', 'editor'))
      .then([changed('ada', 'editor')]);
    given(...two)
      .when(change('bob', 'root'))
      .then({ kind: 'invalid', paths: ['role'] });
    given(...two)
      .when(change('eve', 'viewer'))
      .then({ kind: 'not-found', paths: [] });
  });

  it('is removed together with its active keys, but the last owner cannot be removed', () => {
    const two = [...owned, joinedAs('bob', 'editor')];
    const keys = [keyOf('k1', 'bob'), keyOf('k2', 'bob'), keyRevoked('k2'), keyOf('k3', 'ada')];
    given(...two, ...keys)
      .when(remove('bob'))
      .then([removed('bob'), keyRevoked('k1')]);
    given(...two)
      .when(remove('ada'))
      .then({ kind: 'conflict', paths: [] });
    given(...two, removed('bob'))
      .when(remove('bob'))
      .then({ kind: 'not-found', paths: [] });
  });

  it('gets a new password only if `isCurrentHash` accepts the stored hash of the current password', () => {
    const changePassword = (known: string): AccountCommand => ({
      kind: 'change-password',
      memberId: 'ada',
      passwordHash: 'next',
      isCurrentHash: (hash) => hash === known,
    });
    const next = event({ case: 'passwordChanged', value: { memberId: 'ada', passwordHash: 'next' } });
    given(...owned)
      .when(changePassword('hash of ada'))
      .then([next]);
    given(...owned, next)
      .when(changePassword('hash of ada'))
      .then({ kind: 'conflict', paths: [] });
  });
});

describe('the keys of members', () => {
  it('can be renamed and revoked only by the member who created them, or by a command that names no member', () => {
    const keys = [...owned, keyOf('k1', 'bob')];
    const rename = (ofMember: string, name = 'new'): AccountCommand => ({
      kind: 'rename-key',
      keyId: 'k1',
      name,
      ofMember,
    });
    const renamed = event({ case: 'apiKeyRenamed', value: { keyId: 'k1', name: 'new' } });
    given(...keys)
      .when(rename('bob'))
      .then([renamed]);
    given(...keys)
      .when(rename(''))
      .then([renamed]);
    given(...keys, renamed)
      .when(rename(''))
      .then([]);
    for (const command of [rename('eve'), { kind: 'revoke-key', keyId: 'k1', ofMember: 'eve' } as const])
      given(...keys)
        .when(command)
        .then({ kind: 'not-found', paths: [] });
    given(...keys)
      .when(rename('bob', ' '))
      .then({ kind: 'invalid', paths: ['name'] });
  });

  it('cannot be created for a member who was removed meanwhile', () => {
    const add: AccountCommand = {
      kind: 'create-key',
      key: { keyId: 'x', name: 'x', keyHash: codeHash, scope: 'read', expiresAt: '', memberId: 'bob' },
      now,
    };
    given(...owned, joinedAs('bob', 'editor'), event({ case: 'memberRemoved', value: { memberId: 'bob' } }))
      .when(add)
      .then({ kind: 'forbidden', paths: [] });
  });

  it('are limited to 200 active keys in an account', () => {
    const many = Array.from({ length: 200 }, (_, n) => keyOf(`k${n}`, ''));
    const add: AccountCommand = {
      kind: 'create-key',
      key: { keyId: 'x', name: 'x', keyHash: codeHash, scope: 'read', expiresAt: '', memberId: '' },
      now,
    };
    given(...owned, ...many)
      .when(add)
      .then({ kind: 'conflict', paths: [] });
  });
});
