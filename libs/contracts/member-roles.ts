/**
 * What a member may do. A viewer only reads. An editor also changes keywords, watches, channels and mentions, and
 * creates API keys. An owner may do everything.
 */
export const MEMBER_ROLES = ['owner', 'editor', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Returns true if the text is the name of a role. */
export function isMemberRole(text: string): text is MemberRole {
  return MEMBER_ROLES.some((role) => role === text);
}
