/** What a member may do. A viewer reads; an editor also changes what is watched; an owner may do everything. */
export const MEMBER_ROLES = ['owner', 'editor', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** True if the text is the name of a role. */
export function isMemberRole(text: string): text is MemberRole {
  return MEMBER_ROLES.some((role) => role === text);
}
