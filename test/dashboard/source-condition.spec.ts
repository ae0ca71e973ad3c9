import { conditionOf } from '../../apps/dashboard/pages/sources/condition.js';

const WORKING = { configured: true, enabled: true, healthy: true, lastSuccessAt: '2026-11-20T12:00:00.000Z' };

describe('the condition of a source', () => {
  it.each([
    ['Healthy', {}],
    ['Not asked yet', { lastSuccessAt: null }],
    ['Not healthy', { healthy: false }],
    ['Not healthy', { healthy: false, lastSuccessAt: null }],
    ['Off', { enabled: false, lastSuccessAt: null }],
    ['Not configured', { configured: false, enabled: false, healthy: false, lastSuccessAt: null }],
  ])('is shown as “%s” for %o', (text, state) => {
    expect(conditionOf({ ...WORKING, ...state }).text).toBe(text);
  });
});
