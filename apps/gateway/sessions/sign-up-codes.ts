import { firstSignUpCode, hashCode, sameHash, SignedText } from '#secrets';

const SCOPE = 'sign-up';
const VALID_MS = 24 * 3_600_000;

/**
 * Makes and checks the codes that open an account: the code of the first account, and the codes in mails. Codes are not
 * stored.
 */
export class SignUpCodes {
  private readonly first: Buffer;
  private readonly signed: SignedText;

  /** @param masterKey MASTER_KEY */
  constructor(masterKey: string) {
    this.first = hashCode(firstSignUpCode(masterKey));
    this.signed = new SignedText(masterKey, 'sign-up');
  }

  /**
   * Returns whether the code is the code of the first account. `SignUps` accepts this code only until an account
   * exists.
   */
  isFirst(code: string): boolean {
    return sameHash(hashCode(code), this.first);
  }

  /**
   * Returns the code of a mail. The code works for 24 hours, only for this address, and only until the address has an
   * account.
   */
  writeFor(email: string, nowMs: number): string {
    return this.signed.write(SCOPE, [email.toLowerCase(), nowMs + VALID_MS]);
  }

  isFor(email: string, code: string, nowMs: number): boolean {
    const read = this.signed.read<[string, number]>(SCOPE, code);
    return read !== undefined && read[0] === email.toLowerCase() && read[1] >= nowMs;
  }
}
