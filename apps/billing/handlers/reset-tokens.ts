import { createHash } from 'node:crypto';
import { SignedText } from '#secrets';

const SCOPE = 'reset';
const VALID_MS = 3_600_000;

/** The content of a token to reset a password. */
export interface ResetToken {
  accountId: string;
  memberId: string;
  /** Returns whether the token was created for this password. */
  isFor(passwordHash: string): boolean;
}

/**
 * Makes and checks tokens to reset a password. Tokens are not stored. A token contains a fingerprint of the old
 * password's hash, so the token is valid only until the password changes, and for at most one hour.
 */
export class ResetTokens {
  private readonly signed: SignedText;

  /** @param masterKey MASTER_KEY */
  constructor(masterKey: string) {
    this.signed = new SignedText(masterKey, 'password-reset');
  }

  /** Returns a new token. */
  write(accountId: string, memberId: string, passwordHash: string, nowMs: number): string {
    return this.signed.write(SCOPE, [accountId, memberId, fingerprint(passwordHash), nowMs + VALID_MS]);
  }

  /** Returns the content of a token; undefined if the token is not valid or is too old. */
  read(token: string, nowMs: number): ResetToken | undefined {
    const read = this.signed.read<[string, string, string, number]>(SCOPE, token);
    if (!read || read[3] < nowMs) return undefined;
    const [accountId, memberId, expected] = read;
    return { accountId, memberId, isFor: (passwordHash) => fingerprint(passwordHash) === expected };
  }
}

/**
 * Returns a fingerprint of a password's hash. The hash itself must not leave the service: an attacker who has the hash
 * could try passwords without the service.
 */
function fingerprint(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url').slice(0, 22);
}
