import { HTTP_STATUS, refusalKindOf } from './http-status.js';

describe('the HTTP status of a refusal', () => {
  it('leads back to its kind: no two kinds share one', () => {
    for (const [kind, status] of Object.entries(HTTP_STATUS)) expect(refusalKindOf(status)).toBe(kind);
  });

  it('is read as `internal` when a newer release sent one that this release does not know', () => {
    expect(refusalKindOf(418)).toBe('internal');
  });
});
