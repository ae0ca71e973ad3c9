import ipaddr from 'ipaddr.js';
import { makeValidator } from 'envalid';

/** One key of 32 bytes in hexadecimal; during a rotation several keys, separated by commas. */
export const masterKey = makeValidator((text: string) => {
  if (!/^[0-9a-f]{64}(,[0-9a-f]{64})*$/i.test(text))
    throw new Error(
      'must have 64 hexadecimal characters (32 bytes); during a rotation: the new key, a comma, the old key',
    );
  return text.toLowerCase();
});

/** Returns the number; NaN for a blank text, which `Number` reads as 0. */
const numberOf = (text: string) => (text.trim() === '' ? Number.NaN : Number(text));

/** A whole number within limits. */
export const wholeNumber = ({ min = 1, max = Number.MAX_SAFE_INTEGER } = {}) =>
  makeValidator((text: string) => {
    const value = numberOf(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  });

/** A whole number above 0. */
export const positiveInteger = wholeNumber();

/** A time in milliseconds. The limit is one day, because a timer of more than 24.8 days ends immediately. */
export const milliseconds = wholeNumber({ max: 86_400_000 });

/** A number from 0 to 1. */
export const ratio = makeValidator((text: string) => {
  const value = numberOf(text);
  if (!(value >= 0 && value <= 1)) throw new Error('must be a number from 0 to 1');
  return value;
});

/** A temperature of a language model, or `none`. */
export const temperature = makeValidator((text: string): number | 'none' => {
  if (text === 'none') return text;
  const value = numberOf(text);
  if (!(value >= 0 && value <= 2)) throw new Error('must be a number from 0 to 2, or none');
  return value;
});

/** An address of HTTP. */
export const url = makeValidator((text: string) => {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new Error('must be an address, http://… or https://…');
  return text;
});

/** An address of HTTP to which a path can be appended. Removes spaces and line ends around it. */
export const baseUrl = makeValidator((given: string) => {
  const text = given.trim();
  // A path that is appended after a query would become a part of the query.
  if (!URL.canParse(text) || !/^https?:\/\/[^\s?#@]+$/.test(text))
    throw new Error(
      'must be an address without user, ? and #, such as https://earshot.example.org or https://llm.example.org/v1',
    );
  return text;
});

/** An address of a mail server. */
export const smtpUrl = makeValidator((text: string) => {
  if (!URL.canParse(text) || !/^smtps?:$/.test(new URL(text).protocol) || new URL(text).hostname === '')
    throw new Error('must be smtp://user:password@host:port, or smtps:// for TLS from the start');
  try {
    decodeURIComponent(text);
  } catch {
    throw new Error('must contain %25 instead of each % in the user and the password');
  }
  return text;
});

/** A mail address, with or without a name. */
export const mailFrom = makeValidator((text: string) => {
  const [, name, inBrackets] = /^([^<>\r\n"]*)<([^<>]*)>$/.exec(text) ?? [];
  const address = name === undefined ? text : (inBrackets ?? '');
  if (!/^[^\s@<>",;:]+@[^\s@<>",;:]+$/.test(address))
    throw new Error('must be an address, or Name <address>');
  return text;
});

/** IP addresses and CIDRs, separated by commas. */
export const addresses = makeValidator((text: string) => {
  const wrong = text.split(',').find((one) => {
    const address = one.trim();
    return !ipaddr.isValid(address) && !ipaddr.isValidCIDR(address);
  });
  if (wrong !== undefined) throw new Error(`"${wrong.trim()}" is neither an address nor a CIDR`);
  return text;
});

/** A secret text that fits into a header. */
export const token = makeValidator((text: string) => {
  if (!/^[\x21-\x7e]{16,200}$/.test(text)) throw new Error('must have 16 to 200 visible ASCII characters');
  return text;
});
