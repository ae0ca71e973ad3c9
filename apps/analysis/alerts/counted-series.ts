import type { Window } from './windows.js';

/** The number of mentions of one watch in one bin of five minutes. */
export interface BinCount {
  watchId: string;
  /** The start of the bin, in ms. */
  at: number;
  total: number;
  negative: number;
}

/** Running sums over the bins of one search. The count of a window is the difference of two sums. */
interface Sums {
  at: number[];
  total: number[];
  negative: number[];
}

/** Counts of mentions by search and bin, in memory. */
export class CountedSeries {
  private readonly watches = new Map<string, Sums>();

  /** @param counts the earliest first; each bin of a watch occurs only once */
  constructor(counts: readonly BinCount[]) {
    for (const { watchId, at, total, negative } of counts) {
      const sums = this.watches.get(watchId) ?? { at: [], total: [0], negative: [0] };
      this.watches.set(watchId, sums);
      sums.at.push(at);
      sums.total.push((sums.total.at(-1) ?? 0) + total);
      sums.negative.push((sums.negative.at(-1) ?? 0) + negative);
    }
  }

  /**
   * Returns the number of mentions of some watches in a window.
   * @param negative true: only negative mentions are counted
   */
  count({ from, to }: Window, negative: boolean, watchIds: readonly string[]): number {
    let count = 0;
    for (const id of watchIds) {
      const sums = this.watches.get(id);
      if (!sums) continue;
      const values = negative ? sums.negative : sums.total;
      count += (values[countBelow(sums.at, to)] ?? 0) - (values[countBelow(sums.at, from)] ?? 0);
    }
    return count;
  }

  /** Returns the number of mentions in each window, by search. */
  countsIn(windows: readonly Window[], negative: boolean): ReadonlyMap<string, number>[] {
    const ids = [...this.watches.keys()];
    return windows.map((window) => new Map(ids.map((id) => [id, this.count(window, negative, [id])])));
  }

  /** Returns the starts of the bins of these watches, from an instant on, the earliest first. */
  binsSince(since: number, watchIds: readonly string[]): number[] {
    const bins = watchIds.flatMap((id) => this.watches.get(id)?.at ?? []).filter((at) => at >= since);
    return [...new Set(bins)].sort((a, b) => a - b);
  }
}

/** Returns the number of sorted values below a limit. */
function countBelow(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
