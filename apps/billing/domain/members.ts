import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  AccountEventSchema,
  isMemberRole,
  MEMBER_ROLES,
  type AccountEvent,
  type MemberRole,
} from '#contracts';
import { Refusal, type Fault } from '#kernel';

/** The members and the invitations of an account, as its decisions need them. */
export interface MembersState {
  /** The current members, without removed members. */
  members: ReadonlyMap<string, Member>;
  invitations: ReadonlyMap<string, Invitation>;
}

interface Member {
  email: string;
  role: MemberRole;
  /** argon2id */
  passwordHash: string;
  /**
   * Increases with each change of the password. A session of an earlier version has ended. The session that changed the
   * password gets the new version.
   */
  passwordVersion: number;
}

interface Invitation {
  email: string;
  role: MemberRole;
  codeHash: Uint8Array;
  /** ISO 8601 */
  expiresAt: string;
  /** The member who invites; empty for the command line. */
  invitedBy: string;
  status: 'open' | 'accepted' | 'revoked';
}

/** The state of an account without members and invitations. */
export const noMembers: MembersState = { members: new Map(), invitations: new Map() };

/** The commands on members. The sender has already hashed codes and passwords, and has added ids and times. */
export type MemberCommand =
  | {
      kind: 'invite-member';
      invitationId: string;
      email: string;
      role: string;
      codeHash: Uint8Array;
      /** ISO 8601 */
      expiresAt: string;
      invitedBy: string;
      now: string;
    }
  | { kind: 'revoke-invitation'; invitationId: string }
  | {
      kind: 'accept-invitation';
      invitationId: string;
      memberId: string;
      email: string;
      passwordHash: string;
      now: string;
    }
  | { kind: 'change-member-role'; memberId: string; role: string }
  | { kind: 'remove-member'; memberId: string }
  /**
   * `isCurrentHash` gets the stored hash of the password. The function returns true if the old password, or the link of
   * a reset, belongs to this hash.
   */
  | {
      kind: 'change-password';
      memberId: string;
      passwordHash: string;
      isCurrentHash: (hash: string) => boolean;
    };

const KINDS: Readonly<Record<MemberCommand['kind'], true>> = {
  'invite-member': true,
  'revoke-invitation': true,
  'accept-invitation': true,
  'change-member-role': true,
  'remove-member': true,
  'change-password': true,
};

/** Returns whether the command is a command on members. */
export function isMemberCommand(command: { kind: string }): command is MemberCommand {
  return Object.hasOwn(KINDS, command.kind);
}

/** Maximum number of members and open invitations of one account. */
const MAX_MEMBERS = 200;

/**
 * Returns the events of a command on members.
 * @throws Refusal if the members do not allow the command, or if a value of the command is not valid
 */
export function decideMembers(command: MemberCommand, state: MembersState): AccountEvent[] {
  switch (command.kind) {
    case 'invite-member':
      return invited(command, state);
    case 'revoke-invitation': {
      const { invitationId } = command;
      const invitation = state.invitations.get(invitationId);
      if (!invitation || invitation.status === 'accepted') throw Refusal.notFound('invitation');
      return invitation.status === 'revoked' ? [] : [invitationRevoked(invitationId)];
    }
    case 'accept-invitation':
      return accepted(command, state);
    case 'change-member-role': {
      const { memberId, role } = command;
      const member = memberOf(state, memberId);
      const faults = roleFaults(role);
      if (faults.length > 0) throw Refusal.validation(faults);
      if (member.role === role) return [];
      refuseLastOwner(state, memberId);
      return [
        event({ case: 'memberRoleChanged', value: { memberId, role } }),
        ...(role === 'owner' ? [] : invitationsRevoked(state, memberId)),
      ];
    }
    case 'remove-member': {
      const { memberId } = command;
      memberOf(state, memberId);
      refuseLastOwner(state, memberId);
      return [event({ case: 'memberRemoved', value: { memberId } }), ...invitationsRevoked(state, memberId)];
    }
    case 'change-password': {
      const { memberId, passwordHash, isCurrentHash } = command;
      if (!isCurrentHash(memberOf(state, memberId).passwordHash))
        throw Refusal.conflict('the password was changed at the same time');
      return [event({ case: 'passwordChanged', value: { memberId, passwordHash } })];
    }
  }
}

/** Returns the state after an event about members. */
export function evolveMembers(state: MembersState, event: AccountEvent['event']): MembersState {
  switch (event.case) {
    case 'invitationCreated': {
      const { invitationId, email, role, codeHash, expiresAt, invitedBy } = event.value;
      return withInvitation(state, invitationId, {
        email,
        role: roleOf(role),
        codeHash,
        expiresAt,
        invitedBy,
        status: 'open',
      });
    }
    case 'invitationRevoked': {
      const invitation = state.invitations.get(event.value.invitationId);
      return invitation
        ? withInvitation(state, event.value.invitationId, { ...invitation, status: 'revoked' })
        : state;
    }
    case 'memberJoined': {
      const { memberId, email, role, passwordHash, invitationId } = event.value;
      const joined = withMember(state, memberId, {
        email,
        role: roleOf(role),
        passwordHash,
        passwordVersion: 1,
      });
      const invitation = state.invitations.get(invitationId);
      return invitation
        ? withInvitation(joined, invitationId, { ...invitation, status: 'accepted' })
        : joined;
    }
    case 'memberRoleChanged':
      return changedMember(state, event.value.memberId, () => ({ role: roleOf(event.value.role) }));
    case 'passwordChanged':
      return changedMember(state, event.value.memberId, ({ passwordVersion }) => ({
        passwordHash: event.value.passwordHash,
        passwordVersion: passwordVersion + 1,
      }));
    case 'memberRemoved': {
      const members = new Map(state.members);
      members.delete(event.value.memberId);
      return { ...state, members };
    }
    default:
      return state;
  }
}

/** Returns a current member. @throws Refusal `not-found` */
export function memberOf({ members }: MembersState, memberId: string): Member {
  const member = members.get(memberId);
  if (!member) throw Refusal.notFound('member');
  return member;
}

function invited(
  command: Extract<MemberCommand, { kind: 'invite-member' }>,
  { members, invitations }: MembersState,
): AccountEvent[] {
  const { invitationId, email, role, codeHash, expiresAt, invitedBy, now } = command;
  const faults = [...addressFaults(email), ...roleFaults(role)];
  if (faults.length > 0) throw Refusal.validation(faults);
  // The gateway checked the role before this command. Meanwhile the member can have been removed or demoted.
  if (!mayInvite(invitedBy, members))
    throw new Refusal('forbidden', 'FORBIDDEN', 'only an owner of the account can invite members');
  if ([...members.values()].some((member) => isSameAddress(member.email, email)))
    throw Refusal.conflict('this address belongs to a member already');
  const open = [...invitations].filter(
    ([, invitation]) => invitation.status === 'open' && invitation.expiresAt > now,
  );
  const earlier = open.filter(([, invitation]) => isSameAddress(invitation.email, email));
  if (members.size + open.length - earlier.length >= MAX_MEMBERS)
    throw Refusal.conflict(
      `the account already has ${MAX_MEMBERS} members and open invitations; this is the maximum`,
    );
  return [
    ...earlier.map(([id]) => invitationRevoked(id)),
    event({
      case: 'invitationCreated',
      value: { invitationId, email, role, codeHash, expiresAt, invitedBy },
    }),
  ];
}

/** @param invitedBy a member; empty for the command line */
function mayInvite(invitedBy: string, members: MembersState['members']): boolean {
  return invitedBy === '' || members.get(invitedBy)?.role === 'owner';
}

function accepted(
  { invitationId, memberId, email, passwordHash, now }: Extract<MemberCommand, { kind: 'accept-invitation' }>,
  { members, invitations }: MembersState,
): AccountEvent[] {
  const invitation = invitations.get(invitationId);
  const isOpen = invitation?.status === 'open' && invitation.expiresAt > now;
  if (!invitation || !isOpen || !isSameAddress(invitation.email, email)) throw refusedCode();
  // An earlier version did not revoke the invitations of a removed owner.
  if (!mayInvite(invitation.invitedBy, members)) throw refusedCode();
  const { role } = invitation;
  return [
    event({
      case: 'memberJoined',
      value: { memberId, email: invitation.email, role, passwordHash, invitationId },
    }),
  ];
}

/**
 * Returns the refusal of a code. The refusal is the same for every reason, so that a person who guesses codes learns
 * nothing.
 */
export function refusedCode(): Refusal {
  return Refusal.validation([
    { path: 'code', message: 'is not valid for this address, or was used, or has expired' },
  ]);
}

function refuseLastOwner({ members }: MembersState, memberId: string): void {
  const owners = [...members].filter(([, { role }]) => role === 'owner');
  if (owners.length === 1 && owners[0]?.[0] === memberId)
    throw Refusal.conflict('this is the last owner of the account; make another member an owner first');
}

/** Returns the fault of a text that is not an email address. */
export function addressFaults(email: string): Fault[] {
  return /^[^\s@]+@[^\s@]+$/.test(email) ? [] : [{ path: 'email', message: 'must be an email address' }];
}

function roleFaults(role: string): Fault[] {
  return isMemberRole(role) ? [] : [{ path: 'role', message: `must be one of ${MEMBER_ROLES.join(', ')}` }];
}

/** Returns a stored role. A role that only a later release knows counts as the role with the fewest permissions. */
function roleOf(text: string): MemberRole {
  return isMemberRole(text) ? text : 'viewer';
}

function isSameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function withMember(state: MembersState, memberId: string, member: Member): MembersState {
  return { ...state, members: new Map(state.members).set(memberId, member) };
}

function changedMember(
  state: MembersState,
  memberId: string,
  change: (member: Member) => Partial<Member>,
): MembersState {
  const member = state.members.get(memberId);
  return member ? withMember(state, memberId, { ...member, ...change(member) }) : state;
}

function withInvitation(state: MembersState, id: string, invitation: Invitation): MembersState {
  return { ...state, invitations: new Map(state.invitations).set(id, invitation) };
}

/**
 * Returns the events that revoke the open invitations of a member who is no longer an owner. Otherwise this member could
 * join again with an invitation for another address.
 */
function invitationsRevoked({ invitations }: MembersState, memberId: string): AccountEvent[] {
  return [...invitations]
    .filter(([, { invitedBy, status }]) => invitedBy === memberId && status === 'open')
    .map(([id]) => invitationRevoked(id));
}

function invitationRevoked(invitationId: string): AccountEvent {
  return event({ case: 'invitationRevoked', value: { invitationId } });
}

function event(init: MessageInitShape<typeof AccountEventSchema>['event']): AccountEvent {
  return create(AccountEventSchema, { event: init });
}
