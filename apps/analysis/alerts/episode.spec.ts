import * as fc from 'fast-check';
import type { AlertCondition } from './alert-rules.js';
import { evaluateEpisode, MIN_INTERVAL_MS, type Episode } from './episode.js';
import { BIN_MS } from './windows.js';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 5);
const VOLUME: AlertCondition = { kind: 'volume', window: '1h', min: 5, multiple: 3 };

describe('a rule', () => {
  it('fires at most once in 60 minutes, and never while its episode is open, even if windows reach the threshold late [alerts.episode, alerts.quiet]', () => {
    const evaluation = fc.record({
      step: fc.integer({ min: 0, max: 40 }),
      late: fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(evaluation, { maxLength: 60 }), (evaluations) => {
        let episode: Episode | undefined;
        let now = START;
        const fired: { at: number; to: number }[] = [];
        for (const { step, late } of evaluations) {
          now += step * BIN_MS;
          const reached = late.map((bins) => ({ to: now - bins * BIN_MS })).sort((a, b) => a.to - b.to);
          const before = episode;
          const result = evaluateEpisode(VOLUME, episode, reached, now);
          if (result.fired) {
            if (before && !before.ended) expect(result.ended).toBe(true);
            fired.push({ at: now, to: result.fired.to });
            episode = { firedAt: now, aboveUntil: result.aboveUntil ?? now, ended: false };
          } else if (episode)
            episode = {
              ...episode,
              aboveUntil: result.aboveUntil ?? episode.aboveUntil,
              ended: episode.ended || result.ended,
            };
        }
        fired.slice(1).forEach(({ at, to }, n) => {
          expect(at - fired[n]!.at).toBeGreaterThanOrEqual(MIN_INTERVAL_MS);
          expect(to).toBeGreaterThan(fired[n]!.to);
        });
      }),
    );
  });

  it('ends its episode when an hour has passed since the end of the last window that reached the threshold [alerts.episode]', () => {
    const open = { firedAt: START, aboveUntil: START, ended: false };
    const reach = (minutes: number) => [{ to: START + minutes * 60_000 }];
    expect(evaluateEpisode(VOLUME, open, reach(50), START + 55 * 60_000)).toEqual({
      fired: undefined,
      ended: false,
      aboveUntil: START + 50 * 60_000,
    });
    expect(evaluateEpisode(VOLUME, open, [], START + HOUR_MS).ended).toBe(true);
    expect(evaluateEpisode(VOLUME, open, reach(65), START + 66 * 60_000)).toEqual({
      fired: { to: START + 65 * 60_000 },
      ended: true,
      aboveUntil: START + 65 * 60_000,
    });
  });
});
