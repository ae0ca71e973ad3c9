import type { AlertRule } from './alert-rules.js';
import type { CountedSeries } from './counted-series.js';
import { evaluateEpisode, type Episode } from './episode.js';
import { findLevel, reachedWindows, type AlertHistory, type ReachedWindow } from './reached-windows.js';

/** A keyword's mentions in memory, with everything else that alerts need. */
export interface CountedHistory extends Omit<AlertHistory, 'countsIn'> {
  series: CountedSeries;
}

/** An alert that would have fired with the tested rules. */
export interface BacktestedAlert extends ReachedWindow {
  rule: AlertRule;
}

/**
 * Finds the alerts that would have fired since an instant. Uses the code that evaluates live mentions.
 * @param since ms; earlier mentions are used only for baselines
 * @returns the earliest first
 */
export async function backtestAlerts(
  rules: readonly AlertRule[],
  history: CountedHistory,
  since: number,
): Promise<BacktestedAlert[]> {
  const { series, searches } = history;
  const countsIn: AlertHistory['countsIn'] = async (windows, negative) => series.countsIn(windows, negative);
  const found: BacktestedAlert[] = [];
  for (const rule of rules) {
    const reached = await reachedWindows(rule, searches, series, since, (one, window) =>
      findLevel(one, window, { ...history, countsIn }),
    );
    for (const alert of episodesOf(rule, reached)) found.push({ ...alert, rule });
  }
  return found.sort((a, b) => a.to - b.to);
}

/** Returns the windows that fire an alert if each window is evaluated when it ends. */
function episodesOf({ condition }: AlertRule, reached: readonly ReachedWindow[]): ReachedWindow[] {
  const alerts: ReachedWindow[] = [];
  let episode: Episode | undefined;
  for (const window of reached) {
    const { fired, ended, aboveUntil = window.to } = evaluateEpisode(condition, episode, [window], window.to);
    if (fired) alerts.push(fired);
    episode = fired
      ? { firedAt: window.to, aboveUntil, ended: false }
      : episode && { ...episode, aboveUntil, ended: episode.ended || ended };
  }
  return alerts;
}
