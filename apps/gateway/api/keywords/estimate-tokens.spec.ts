import { Refusal } from '#kernel';
import { EstimateTokens } from './estimate-tokens.js';

const tokens = new EstimateTokens('5e'.repeat(32));
const now = new Date('2026-03-01T12:00:00.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const body = { name: 'Acme', global_criteria: { market: 'global', filters: { Kept_Key: 1 } } };

function codeOf(check: () => void): string {
  try {
    check();
    return 'accepted';
  } catch (error) {
    if (error instanceof Refusal) return `${error.kind} ${error.code}`;
    throw error;
  }
}

describe('an estimate token', () => {
  const { estimateToken, estimateTokenExpiresAt } = tokens.issue('ada', body, now);

  it('is valid for 15 minutes, and not longer', () => {
    expect(estimateTokenExpiresAt).toBe('2026-03-01T12:15:00.000Z');
    const at = (ms: number) => codeOf(() => tokens.check('ada', body, estimateToken, later(ms)));
    expect([at(899_999), at(900_000)]).toEqual(['accepted', 'conflict ESTIMATE_EXPIRED']);
  });

  it('is valid at another gateway with the same master key, and at no gateway with another key', () => {
    const check = (key: string) =>
      codeOf(() => new EstimateTokens(key).check('ada', body, estimateToken, now));
    expect([check('5e'.repeat(32)), check('6f'.repeat(32))]).toEqual([
      'accepted',
      'conflict ESTIMATE_MISMATCH',
    ]);
  });

  it('is valid only for its account and body, in snake_case or camelCase, with unchanged keys inside `filters`', () => {
    const check = (account: string, sent: unknown) =>
      codeOf(() => tokens.check(account, sent, estimateToken, now));
    const camel = { globalCriteria: { filters: { Kept_Key: 1 }, market: 'global' }, name: 'Acme' };
    const other = { ...body, global_criteria: { market: 'global', filters: { keptKey: 1 } } };
    expect([check('ada', camel), check('ada', other), check('eve', body)]).toEqual([
      'accepted',
      'conflict ESTIMATE_MISMATCH',
      'conflict ESTIMATE_MISMATCH',
    ]);
  });

  it('can be missing, unless the caller requires a token, as a create through MCP does', () => {
    const check = (required: boolean) => codeOf(() => tokens.check('ada', body, undefined, now, required));
    expect([check(false), check(true)]).toEqual(['accepted', 'invalid ESTIMATE_REQUIRED']);
  });
});
