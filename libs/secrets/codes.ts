import { createHash, createHmac, randomBytes } from 'node:crypto';
import { masterKeys } from './secret-box.js';

/** Crockford's base32: without U, and without I, L and O, because people confuse these with digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUP = 4;

/** Makes a new invitation code: 80 random bits, `XXXX-XXXX-XXXX-XXXX`. */
export function newInvitationCode(): string {
  return written(randomBytes(16));
}

/**
 * Returns the code of the first sign-up, `XXXX-XXXX`: 40 bits that are derived from MASTER_KEY, so that every replica
 * can compute it and nothing is stored. The caller must refuse this code as soon as an account exists.
 */
export function firstSignUpCode(masterKey: string): string {
  const [present] = masterKeys(masterKey);
  return written(
    createHmac('sha256', Buffer.from(present, 'hex')).update('first sign-up').digest().subarray(0, 8),
  );
}

/**
 * Returns the stored form of a code: SHA-256 of its canonical spelling. Codes are random, so a slow hash would not
 * protect them better.
 */
export function hashCode(code: string): Buffer {
  return createHash('sha256').update(canonical(code)).digest();
}

/** Returns one character for each byte: 32 divides 256, so all characters are equally likely. */
function written(bytes: Uint8Array): string {
  const text = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return (text.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
}

/**
 * Returns the canonical spelling of a code, as Crockford defines it: no case, no separators, and O, I and L are read as
 * 0 and 1.
 */
function canonical(code: string): string {
  return code.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
}
