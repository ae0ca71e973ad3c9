import { createHmac, timingSafeEqual } from 'node:crypto';

/** The result of checking the signature headers of one delivery. */
export interface Verdict {
  /** `X-Signature: t=…,v1=…` over `<t>.<body>`. */
  signature: boolean;
  /** `webhook-signature` over `<id>.<timestamp>.<body>` (Standard Webhooks). */
  standard: boolean;
  /** `X-Signature` in the legacy form: plain hex over the body. */
  legacy: boolean;
  /** What is wrong, as text for people; empty if X-Signature is present and every present signature is correct. */
  faults: string[];
}

/** Maximum difference between a timestamp and the present time in seconds, in either direction. */
export const TOLERANCE_SECONDS = 300;

type Headers = Record<string, string | string[] | undefined>;

/** Checks every form of signature of the delivery against all the secrets. */
export function verifyDelivery(
  headers: Headers,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): Verdict {
  const verdict: Verdict = { signature: false, standard: false, legacy: false, faults: [] };
  const one = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
  const header = one('x-signature');
  if (secrets.length === 0) verdict.faults.push('no secret is registered');
  else if (header === undefined) verdict.faults.push('no X-Signature');
  else if (/^[0-9a-f]{64}$/i.test(header)) {
    verdict.legacy = secrets.some((secret) => equalHex(header, hmac(secret, body)));
    if (!verdict.legacy) verdict.faults.push('X-Signature (plain) does not match');
  } else {
    const fault = checkTimed(header, body, secrets, nowMs);
    verdict.signature = fault === undefined;
    if (fault) verdict.faults.push(`X-Signature ${fault}`);
  }
  const [id, timestamp, signatures] = [one('webhook-id'), one('webhook-timestamp'), one('webhook-signature')];
  if (signatures !== undefined && secrets.length > 0) {
    const fault = checkStandard(id, timestamp, signatures, body, secrets, nowMs);
    verdict.standard = fault === undefined;
    if (fault) verdict.faults.push(`webhook-signature ${fault}`);
  }
  return verdict;
}

function checkTimed(
  header: string,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): string | undefined {
  const parts = header.split(',').map((part) => part.trim().split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  // While a secret is rotated, the header contains two values of v1.
  const given = parts.filter(([name]) => name === 'v1').map(([, value = '']) => value);
  if (!time || given.length === 0) return 'has no t or no v1';
  if (isStale(time, nowMs))
    return 'has a time that is more than five minutes before or after the present time';
  const matches = secrets.some((secret) => {
    const expected = hmac(secret, `${time}.`, body);
    return given.some((value) => equalHex(value, expected));
  });
  return matches ? undefined : 'does not match';
}

function checkStandard(
  id: string | undefined,
  timestamp: string | undefined,
  signatures: string,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): string | undefined {
  if (!id || !timestamp) return 'has no webhook-id or no webhook-timestamp';
  if (isStale(timestamp, nowMs))
    return 'has a webhook-timestamp that is more than five minutes before or after the present time';
  const given = signatures
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'));
  const matches = secrets.some((secret) => {
    const expected = hmac(standardKey(secret), `${id}.${timestamp}.`, body);
    return given.some((value) => value.length === expected.length && timingSafeEqual(value, expected));
  });
  return matches ? undefined : 'does not match';
}

/** Returns the key for Standard Webhooks: the decoded base64 after `whsec_`; any other secret is used unchanged. */
function standardKey(secret: string): string | Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
}

function isStale(seconds: string, nowMs: number): boolean {
  return !(Math.abs(nowMs / 1000 - Number(seconds)) <= TOLERANCE_SECONDS);
}

function hmac(key: string | Buffer, ...parts: (string | Buffer)[]): Buffer {
  const digest = createHmac('sha256', key);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

function equalHex(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given, 'hex');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
