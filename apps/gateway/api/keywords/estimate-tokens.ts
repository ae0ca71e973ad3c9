import { createHash } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';
import { PRICE_BOOK_VERSION } from '#contracts';
import { isoOf, Refusal } from '#kernel';
import { SignedText } from '#secrets';
import { toCamelCase } from '../../http/casing.js';

const VALID_MS = 15 * 60_000;

interface EstimateClaims {
  /** SHA-256 of the canonical body. */
  body: string;
  /** Version of the price book. */
  version: string;
  /** Time of expiry, in ms. */
  until: number;
  /** The keyword whose change was priced. Absent for a new keyword and for an Explore. */
  keywordId?: string;
}

/**
 * Makes and checks signed tokens, which keep an estimated price valid for 15 minutes. A token is bound to the account,
 * the body and the price book. The token of a change is also bound to the keyword.
 */
export class EstimateTokens {
  private readonly signed: SignedText;

  /** @param masterKey MASTER_KEY */
  constructor(masterKey: string) {
    this.signed = new SignedText(masterKey, 'estimates');
  }

  /**
   * @param body the body that the sender sent; the order of its keys does not matter, and each key that Earshot defines
   * can be in snake_case or camelCase
   * @param keywordId the keyword whose change was priced; a create does not accept the token of a change
   */
  issue(
    accountId: string,
    body: unknown,
    now: Date,
    keywordId?: string,
  ): { estimateToken: string; estimateTokenExpiresAt: string } {
    const until = now.getTime() + VALID_MS;
    const claims: EstimateClaims = {
      body: hashOf(body),
      version: PRICE_BOOK_VERSION,
      until,
      ...(keywordId !== undefined && { keywordId }),
    };
    return { estimateToken: this.signed.write({ accountId }, claims), estimateTokenExpiresAt: isoOf(until) };
  }

  /**
   * Checks that a new keyword or a new Explore matches its estimate. A request without a token passes unless `required`.
   * @param token the header `Service-Estimate-Token`
   * @param required true for a create through MCP, which must show the price before it creates the keyword
   * @throws Refusal `invalid` `ESTIMATE_REQUIRED`, `conflict` `ESTIMATE_MISMATCH`, `conflict` `ESTIMATE_EXPIRED`
   */
  check(accountId: string, body: unknown, token: string | undefined, now: Date, required = false): void {
    if (token === undefined) {
      if (!required) return;
      throw new Refusal(
        'invalid',
        'ESTIMATE_REQUIRED',
        'estimate_token is missing; call estimate_keyword with the same keyword first',
      );
    }
    const claims = this.signed.read<EstimateClaims>({ accountId }, token);
    if (!claims)
      throw new Refusal(
        'conflict',
        'ESTIMATE_MISMATCH',
        'the estimate token is not valid for this account; request an estimate',
      );
    if (claims.keywordId !== undefined)
      throw new Refusal(
        'conflict',
        'ESTIMATE_MISMATCH',
        'this estimate is for a change of a keyword; request an estimate for a new keyword',
      );
    if (claims.body !== hashOf(body))
      throw new Refusal(
        'conflict',
        'ESTIMATE_MISMATCH',
        'the body differs from the body of the estimate; request a new estimate',
      );
    if (claims.until <= now.getTime() || claims.version !== PRICE_BOOK_VERSION)
      throw new Refusal('conflict', 'ESTIMATE_EXPIRED', 'the estimate is no longer valid; request a new one');
  }
}

function hashOf(body: unknown): string {
  return createHash('sha256')
    .update(canonicalize(toCamelCase(body).body))
    .digest('base64url');
}
