import { HTTP_STATUS, refusalKindOf } from './http-status.js';

describe('the HTTP status of a refusal', () => {
  it('determines its kind, because no two kinds share a status', () => {
    for (const [kind, status] of Object.entries(HTTP_STATUS)) expect(refusalKindOf(status)).toBe(kind);
  });

  it('is read as `internal` when this release does not know it', () => {
    expect(refusalKindOf(418)).toBe('internal');
  });
});
