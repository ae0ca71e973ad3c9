import { dictionary } from '@zxcvbn-ts/language-common';
import { Check } from '../http/validators.js';
import { canonical } from './passwords.js';

/** The allowed length of a password, in Unicode code points. */
export const PASSWORD_LENGTH = { min: 10, max: 200 };

/** Longer texts are refused before they are examined. */
const MAX_TEXT_LENGTH = 4096;

const COMMON: ReadonlySet<string> = new Set(
  dictionary['passwords-common'].map(String).filter((password) => password.length >= PASSWORD_LENGTH.min),
);

/** Requires a new password: 10 to 200 characters, not a common password, and not the `email` of the same body. */
export function NewPassword(): PropertyDecorator {
  return Check((value, owner) => newPasswordFault(value, owner['email']), {
    type: 'string',
    minLength: 1,
    maxLength: MAX_TEXT_LENGTH,
    format: 'password',
  });
}

/** Requires a password that exists already. Checks only that it is a string that is not extremely long. */
export function ExistingPassword(): PropertyDecorator {
  return Check(
    (value) => {
      if (typeof value !== 'string') return 'must be a string';
      return value.length > MAX_TEXT_LENGTH
        ? `must have at most ${PASSWORD_LENGTH.max} characters`
        : undefined;
    },
    { type: 'string', maxLength: MAX_TEXT_LENGTH, format: 'password' },
  );
}

/**
 * Returns why a password cannot be used; undefined if it can be used.
 * @param email the address of the member, if it is known; the password must not be this address
 */
export function newPasswordFault(value: unknown, email?: unknown): string | undefined {
  const { min, max } = PASSWORD_LENGTH;
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > MAX_TEXT_LENGTH) return `must have at most ${max} characters`;
  const text = canonical(value);
  const length = [...text].length;
  if (length < min) return `must have at least ${min} characters`;
  if (length > max) return `must have at most ${max} characters`;
  const lower = text.toLowerCase();
  const isGuessed = COMMON.has(lower) || (typeof email === 'string' && lower === email.toLowerCase());
  return isGuessed ? 'is a password that attackers try first; use several words' : undefined;
}
