import { isEmail } from 'class-validator';

/** Characters that are not ASCII, spaces, control characters, and characters with a meaning in mail headers or SMTP. */
// oxlint-disable-next-line no-control-regex -- a line break in an address would begin a new header
const UNSAFE = /[\u0000-\u0020\u007f-\uffff"'`(),:;<>[\]\\]/;

/** Returns the fault of an email address, which must be ASCII, without a name or quotes. */
export function addressFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (UNSAFE.test(value) || !isEmail(value)) return 'must be an email address, such as ada@example.org';
  return undefined;
}

/**
 * Returns the address with its domain in lower case. In a domain, upper and lower case have the same meaning. In the
 * part before the domain, they can mean different mailboxes.
 */
export function normalAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${address.slice(at + 1).toLowerCase()}`;
}
