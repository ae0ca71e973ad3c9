import { troublesOf } from '../../apps/dashboard/pages/feed/troubles.js';

const NO_FILTER = { source: [], keyword: [] };
const WORKING = { configured: true, enabled: true, healthy: true };
const PAUSED = { id: 'k1', name: 'Acme', state: 'paused', pausedReason: 'insufficient_credits' } as const;

describe('the troubles of a feed without mentions', () => {
  it('are the sources in use that do not work, and the paused keywords', () => {
    const sources = [
      { id: 'reddit', ...WORKING },
      { id: 'x', ...WORKING, healthy: false },
      { id: 'youtube', ...WORKING, healthy: false, configured: false },
      { id: 'tiktok', ...WORKING, healthy: false, enabled: false },
    ] as const;
    expect(troublesOf(sources, [PAUSED], NO_FILTER)).toEqual({ sources: ['x'], keywords: [PAUSED] });
  });

  it('leave out the sources and keywords that the filters leave out', () => {
    const sources = [
      { id: 'x', ...WORKING, healthy: false },
      { id: 'reddit', ...WORKING, healthy: false },
    ] as const;
    const found = troublesOf(sources, [PAUSED], { source: ['reddit'], keyword: ['k2'] });
    expect(found).toEqual({ sources: ['reddit'], keywords: [] });
  });
});
