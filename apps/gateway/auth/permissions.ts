import type { MemberRole } from '#contracts';

/** The rights that a route requires from its caller. */
export interface RequiredRights {
  role: MemberRole;
  /**
   * True: only a member with a session is allowed to do this, because a leaked key must not create more keys or
   * members.
   */
  needsSession: boolean;
}

interface Area {
  /** Requests that change nothing. */
  read: MemberRole;
  write: MemberRole;
  needsSession?: true;
}

const WORK: Area = { read: 'viewer', write: 'editor' };
const ACCOUNT: Area = { read: 'viewer', write: 'owner' };
const OWNERS: Area = { read: 'owner', write: 'owner', needsSession: true };

/** The rights that the routes of the API require, by the first part of their path under `/v1`. */
const AREAS: Readonly<Record<string, Area>> = {
  keywords: WORK,
  queries: WORK,
  ':source': WORK,
  mentions: WORK,
  readings: WORK,
  analyses: WORK,
  explore: WORK,
  ai_answers: WORK,
  vinted: WORK,
  x: WORK,
  youtube: WORK,
  reddit: WORK,
  sources: WORK,
  stream: WORK,
  views: WORK,
  channels: WORK,
  webhooks: WORK,
  endpoints: WORK,
  deliveries: WORK,
  replays: WORK,
  reports: WORK,
  account: ACCOUNT,
  credits: ACCOUNT,
  // Members read and change only their own sessions and password here.
  auth: { read: 'viewer', write: 'viewer', needsSession: true },
  // Editors see and change their own keys.
  keys: { read: 'editor', write: 'editor', needsSession: true },
  members: { read: 'viewer', write: 'owner', needsSession: true },
  invitations: OWNERS,
  'signing-secret': OWNERS,
  'audit-log': OWNERS,
};

/** Routes that require other rights than the first part of their path. */
const ROUTES: Readonly<Record<string, Area>> = {
  // Each tool checks the rights that it needs.
  '/mcp': { read: 'viewer', write: 'viewer' },
  '/v1/account/plan': OWNERS,
  '/v1/credits/packs': OWNERS,
};

/** The rights that a route requires if neither `ROUTES` nor `AREAS` lists it. */
const UNKNOWN: Area = { read: 'owner', write: 'owner' };
/** A request to a path without a route changes nothing, so every caller gets a 404. */
const NO_ROUTE: RequiredRights = { role: 'viewer', needsSession: false };

/**
 * Returns the rights that a route requires from its caller.
 * @param route the template of the route, for example `/v1/keywords/:id`; undefined if there is no such route
 */
export function requiredRightsOf(method: string, route: string | undefined): RequiredRights {
  if (route === undefined) return NO_ROUTE;
  const area = ROUTES[route] ?? areaOf(route) ?? UNKNOWN;
  return {
    role: changesNothing(method, route) ? area.read : area.write,
    needsSession: area.needsSession === true,
  };
}

/** Returns whether the rights of one role include the rights of another. */
export function includes(role: MemberRole, needed: MemberRole): boolean {
  return RANK[role] >= RANK[needed];
}

const RANK: Readonly<Record<MemberRole, number>> = { viewer: 0, editor: 1, owner: 2 };

function areaOf(route: string): Area | undefined {
  const first = route.split('/')[2] ?? '';
  return Object.hasOwn(AREAS, first) ? AREAS[first] : undefined;
}

/**
 * Returns whether a request is a read. GET and HEAD requests are reads, even if they cost credits. Estimates and
 * lookups of tweets by id are also reads, although they are POST requests.
 */
export function changesNothing(method: string, route: string): boolean {
  return method === 'GET' || method === 'HEAD' || /\/(estimate|lookup)$/.test(route);
}
