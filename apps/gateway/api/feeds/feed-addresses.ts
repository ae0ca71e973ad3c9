import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { masterKeys } from '#secrets';

const ID_BYTES = 16;
const MAC_BYTES = 24;

/** The properties of a keyword that determine the address of its feed. */
export interface FeedKeyword {
  keywordId: string;
  /** Changes when the addresses are replaced. */
  feedKey: string;
}

/**
 * Makes and checks the secrets of feed addresses. A secret consists of the keyword's id and a code that can be computed
 * only with the master key. The secrets are not stored. Replacing the addresses of a keyword makes all its earlier
 * addresses invalid. During a rotation of the master key, addresses that were made with the earlier master key stay
 * valid.
 */
export class FeedAddresses {
  private readonly keys: readonly Buffer[];

  /**
   * @param masterKey MASTER_KEY; all gateways share it
   * @param publicUrl PUBLIC_URL; empty: the origin of the request
   */
  constructor(
    masterKey: string,
    private readonly publicUrl: string,
  ) {
    this.keys = masterKeys(masterKey).map((key) =>
      createHmac('sha256', Buffer.from(key, 'hex')).update('feeds').digest(),
    );
  }

  /** Returns the address of a file, for example `https://earshot.example/feeds/….xml`. */
  urlOf(file: string, { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string {
    const base = this.publicUrl.replace(/\/+$/, '') || `${protocol}://${host}`;
    return `${base}/feeds/${file}`;
  }

  /** Returns the secret of a keyword's feeds: 54 characters of base64url. */
  secretOf(keyword: FeedKeyword): string {
    const mac = macOf(this.keys[0]!, keyword);
    return Buffer.concat([bytesOf(keyword.keywordId), mac]).toString('base64url');
  }

  /**
   * Returns the keyword's id in a secret; undefined for a text that does not have the form of a secret. The secret is
   * not checked here: `isSecretOf` checks it.
   */
  keywordIdIn(secret: string): string | undefined {
    const bytes = Buffer.from(secret, 'base64url');
    if (bytes.length !== ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== secret) return undefined;
    const hex = bytes.toString('hex', 0, ID_BYTES);
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  /** Returns true if the secret is valid for this keyword. Compares it with the code of every master key. */
  isSecretOf(secret: string, keyword: FeedKeyword): boolean {
    const given = Buffer.from(secret, 'base64url').subarray(ID_BYTES);
    const matches = this.keys.map((key) => {
      const mac = macOf(key, keyword);
      return given.length === mac.length && timingSafeEqual(given, mac);
    });
    return matches.includes(true);
  }
}

function macOf(key: Buffer, { keywordId, feedKey }: FeedKeyword): Buffer {
  return createHmac('sha256', key).update(`${keywordId} ${feedKey}`).digest().subarray(0, MAC_BYTES);
}

function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
