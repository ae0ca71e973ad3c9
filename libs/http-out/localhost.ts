/** The addresses of `localhost`. */
export const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Returns true for `localhost` and names below it, which are always loopback (RFC 6761).
 * @param host without a final dot
 */
export function isLocalhost(host: string): boolean {
  return /(^|\.)localhost$/i.test(host);
}
