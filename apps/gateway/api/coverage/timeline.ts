import type { CheckRun } from '../../reads/coverage-reads.js';

/** A part of the timeline of a search. */
export interface CoverageWindow {
  /** In ms. */
  from: number;
  /** In ms, exclusive. */
  to: number;
  /** `covered`: everything was read. `gap`: items can be missing. `failed`: the source could not be read. */
  status: CheckRun['outcome'];
  reason: string | null;
}

/** The checks of a search, and the time of its next check. */
export interface SearchChecks {
  /** Oldest first. */
  runs: readonly CheckRun[];
  /** Reason why no check is due; undefined while the search runs. */
  idle: string | undefined;
  /** In ms; undefined if no check is planned. */
  nextCheckAt: number | undefined;
}

const NO_CHECK = 'no check was made in this time';
const NOT_READ_BACK = 'a check did not read back to the previous check';

/**
 * Returns the timeline of a search: windows without holes, oldest first. If a successful check also read the time of
 * earlier failures, that time is covered, with the failure as its reason. The timeline ends at the earlier of `until`
 * and `now`, or already at the last check (see `endOf`). It is empty if this end is not after `since`.
 * @param since ms; windows are cut at this time
 * @param until ms
 * @param now ms
 */
export function timelineOf(
  { runs, idle, nextCheckAt }: SearchChecks,
  { since, until, now }: { since: number; until: number; now: number },
): CoverageWindow[] {
  const timeline = new Timeline(
    since,
    endOf(runs, { until, now, isNextOnTime: idle === undefined && !isOverdue(nextCheckAt, now) }),
  );
  timeline.set(-Infinity, Infinity, { status: 'gap', reason: idle ?? NO_CHECK });
  runs.forEach((run, index) => {
    if (run.outcome !== 'failed') return;
    const from = runs[index - 1]?.to ?? run.from;
    // No check follows the last failure yet, so all later time counts as failed.
    const to = index === runs.length - 1 ? Infinity : run.to;
    timeline.set(from, to, { status: 'failed', reason: run.message || null });
  });
  for (const run of runs) {
    if (run.outcome === 'covered')
      timeline.update(run.from, run.to, (old) => ({
        status: 'covered',
        reason: old.status === 'failed' ? `read later, after: ${old.reason ?? 'a failure'}` : null,
      }));
    else if (run.outcome === 'gap')
      timeline.set(run.from, run.to, { status: 'gap', reason: run.message || NOT_READ_BACK });
  }
  return timeline.windows();
}

/** The next check is overdue if it is late by more than this time. */
const LATE_MS = 60_000;

function isOverdue(nextCheckAt: number | undefined, now: number): boolean {
  return nextCheckAt !== undefined && nextCheckAt + LATE_MS < now;
}

/**
 * Returns the end of the timeline in ms. The timeline ends with the last check if the search runs, the last check did
 * not fail, and the next check is not overdue. In this case the next check will read the time after the last check.
 */
function endOf(
  runs: readonly CheckRun[],
  { until, now, isNextOnTime }: { until: number; now: number; isNextOnTime: boolean },
): number {
  const last = runs.at(-1);
  return Math.min(until, now, isNextOnTime && last && last.outcome !== 'failed' ? last.to : Infinity);
}

type WindowState = Pick<CoverageWindow, 'status' | 'reason'>;

/** A timeline of adjacent windows. A new window replaces the parts of existing windows that it overlaps. */
class Timeline {
  private readonly parts: CoverageWindow[];

  constructor(from: number, to: number) {
    this.parts = from < to ? [{ from, to, status: 'gap', reason: null }] : [];
  }

  set(from: number, to: number, state: WindowState): void {
    this.update(from, to, () => state);
  }

  update(from: number, to: number, stateFrom: (old: WindowState) => WindowState): void {
    // Only the overlapping parts are copied: a timeline can have thousands of parts, and is updated for each run.
    const first = this.parts.findIndex((part) => part.to > from);
    const last = this.parts.findLastIndex((part) => part.from < to);
    if (first < 0 || last < first) return;
    const changed = this.parts.slice(first, last + 1).flatMap((part) => {
      const [start, end] = [Math.max(from, part.from), Math.min(to, part.to)];
      if (start >= end) return [part];
      return [
        { ...part, to: start },
        { from: start, to: end, ...stateFrom(part) },
        { ...part, from: end },
      ].filter((one) => one.from < one.to);
    });
    this.parts.splice(first, last - first + 1, ...changed);
  }

  /** Joins adjacent windows with the same status and reason. */
  windows(): CoverageWindow[] {
    const merged: CoverageWindow[] = [];
    for (const part of this.parts) {
      const last = merged.at(-1);
      if (last && last.status === part.status && last.reason === part.reason) last.to = part.to;
      else merged.push({ ...part });
    }
    return merged;
  }
}
