import type { components } from './api.js';

/** An event as it is delivered. */
export type Envelope = components['schemas']['Envelope'];

/**
 * Thrown if a delivery cannot be verified: it is not from Earshot, was changed, or was signed too long before or after
 * the present time. Also thrown if the secret is wrong, if the account uses the legacy signature, and if the body is
 * not JSON. Answer 400 and ignore the delivery.
 */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * The headers of a request from `fetch`, from Node's `http`, or as a plain object. The case of the names does not
 * matter.
 */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_HEADER_LENGTH = 1000;
/** Earshot sends at most two signatures: two for 24 hours after a rotation of the secret, otherwise one. */
const MAX_SIGNATURES = 5;

/**
 * Checks the signature and the age of a webhook delivery.
 * @param rawBody the bytes of the body as they arrived; a body that was parsed and written again does not match
 * @param secret the signing secret of the account, `whsec_…`
 * @returns the event
 * @throws WebhookVerificationError, or TypeError if the secret is empty or the body is neither text nor bytes
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: HeadersLike,
  secret: string,
  { toleranceSeconds = 300, now = Date.now }: { toleranceSeconds?: number; now?: () => number } = {},
): Promise<Envelope> {
  // Some frameworks parse the body, and give it the type `any`.
  if (typeof rawBody !== 'string' && !ArrayBuffer.isView(rawBody))
    throw new TypeError('rawBody must be the body as it arrived, as text or bytes, not a parsed body');
  const { timestamp, signatures } = signatureOf(headerOf(headers, 'x-signature'));
  const age = Math.abs(now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds))
    throw new WebhookVerificationError(
      `the delivery was signed ${Math.round(age)} s before or after the present time; at most ${toleranceSeconds} s are allowed`,
    );
  if (!secret) throw new TypeError('the signing secret is empty');
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const signed = joined(new TextEncoder().encode(`${timestamp}.`), body);
  const key = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  let isValid = false;
  // `verify` compares in constant time, so its duration does not reveal the correct signature.
  for (const signature of signatures)
    if (await crypto.subtle.verify('HMAC', key, signature, signed)) isValid = true;
  if (!isValid) throw new WebhookVerificationError('no signature matches the body and the secret');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Envelope;
  } catch {
    throw new WebhookVerificationError('the body is not JSON');
  }
}

interface Signature {
  timestamp: string;
  signatures: Uint8Array<ArrayBuffer>[];
}

/** Parses `t=<unix seconds>,v1=<hex>`, with two `v1` parts for 24 hours after a rotation of the secret. */
function signatureOf(header: string | undefined): Signature {
  if (header === undefined) throw new WebhookVerificationError('the header X-Signature is missing');
  if (/^[0-9a-f]{64}$/.test(header))
    throw new WebhookVerificationError(
      'X-Signature has the legacy form without a time; set signatureVersion of the account to v1',
    );
  const parts = header.length > MAX_HEADER_LENGTH ? [] : header.split(',').map((part) => part.trim());
  const timestamp = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2);
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).slice(0, MAX_SIGNATURES);
  if (timestamp === undefined || signatures.length === 0)
    throw new WebhookVerificationError('X-Signature does not have the form t=<seconds>,v1=<hex>');
  return { timestamp, signatures: signatures.map((part) => bytesOf(part.slice(3))) };
}

function headerOf(headers: HeadersLike, name: string): string | undefined {
  if (typeof headers.get === 'function')
    return (headers as { get(name: string): string | null }).get(name) ?? undefined;
  for (const [key, value] of Object.entries(headers))
    if (key.toLowerCase() === name) return typeof value === 'string' ? value : undefined;
  return undefined;
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
