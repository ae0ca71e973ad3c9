import { hash } from 'node:crypto';

/** Block size of SHA-256, and size of a SHA-256 hash, in bytes. */
const BLOCK = 64;
const DIGEST = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** Size of the buffer for messages, in bytes. Longer messages get a separate buffer. */
const KEPT = 64 * 1024;

/** A key of HMAC-SHA256, prepared for many messages. */
export interface HmacKey {
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
}

const scratch = Buffer.allocUnsafe(BLOCK + KEPT);
const outer = Buffer.allocUnsafe(BLOCK + DIGEST);

/** Prepares a key of any length. */
export function hmacKey(key: Uint8Array): HmacKey {
  const block = Buffer.alloc(BLOCK);
  block.set(key.length > BLOCK ? hash('sha256', key, 'buffer') : key);
  return { inner: block.map((byte) => byte ^ INNER_PAD), outer: block.map((byte) => byte ^ OUTER_PAD) };
}

/**
 * Returns the HMAC-SHA256 (RFC 2104) of a text followed by bytes. Uses two calls of Node's function `hash`.
 * `createHmac` would create an object with native memory for each message, which takes longer than the hash.
 */
export function hmacSha256(
  key: HmacKey,
  text: string,
  bytes: Uint8Array,
  encoding: 'hex' | 'base64',
): string {
  const max = BLOCK + 3 * text.length + bytes.length;
  const message = max > scratch.length ? Buffer.allocUnsafe(max) : scratch;
  message.set(key.inner);
  const start = BLOCK + message.write(text, BLOCK);
  message.set(bytes, start);
  outer.set(key.outer);
  // The inner hash is a text with one byte per character, because a separate buffer would be slower.
  outer.write(hash('sha256', message.subarray(0, start + bytes.length), 'binary'), BLOCK, 'binary');
  return hash('sha256', outer, encoding);
}
