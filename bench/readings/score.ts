/** Counts how often each value was read for each true value. */
export class Confusion {
  private readonly counts = new Map<string, Map<string, number>>();
  private readonly values = new Set<string>();

  add(truth: string, read: string): void {
    const row = this.counts.get(truth) ?? new Map<string, number>();
    row.set(read, (row.get(read) ?? 0) + 1);
    this.counts.set(truth, row);
    this.values.add(truth).add(read);
  }

  count(truth: string, read: string): number {
    return this.counts.get(truth)?.get(read) ?? 0;
  }

  /** Returns how often this true value occurred. */
  truths(value: string): number {
    return [...(this.counts.get(value)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  }

  /** Returns how often the value was read. */
  reads(value: string): number {
    return [...this.counts.keys()].reduce((sum, truth) => sum + this.count(truth, value), 0);
  }

  recall(value: string): number {
    return this.count(value, value) / (this.truths(value) || 1);
  }

  precision(value: string): number {
    return this.count(value, value) / (this.reads(value) || 1);
  }

  f1(value: string): number {
    const [precision, recall] = [this.precision(value), this.recall(value)];
    return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  }

  /** Returns the true values that occurred. */
  present(): string[] {
    return [...this.counts.keys()].sort();
  }

  macroRecall(): number {
    return mean(this.present().map((value) => this.recall(value)));
  }

  macroF1(): number {
    return mean(this.present().map((value) => this.f1(value)));
  }

  accuracy(): number {
    const all = this.present().reduce((sum, value) => sum + this.truths(value), 0);
    return this.present().reduce((sum, value) => sum + this.count(value, value), 0) / all;
  }

  /** Returns a row for each true value: the value, then how often each value was read. */
  table(): { head: string[]; rows: (string | number)[][] } {
    const read = [...this.values].sort();
    const rows = this.present().map((truth) => [truth, ...read.map((value) => this.count(truth, value))]);
    return { head: ['true \\ read', ...read], rows };
  }
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
}

/** Returns the agreement of two readers beyond chance (Cohen's kappa). */
export function kappa(pairs: readonly (readonly [string, string])[]): number {
  const agreed = pairs.filter(([a, b]) => a === b).length / pairs.length;
  const values = new Set(pairs.flat());
  const part = (side: 0 | 1, value: string) =>
    pairs.filter((pair) => pair[side] === value).length / pairs.length;
  const chance = [...values].reduce((sum, value) => sum + part(0, value) * part(1, value), 0);
  return (agreed - chance) / (1 - chance);
}
