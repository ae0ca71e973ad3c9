/** Counts what runs at the moment, for example the exports of each account. */
export class Running {
  private readonly counts = new Map<string, number>();

  /** Returns how many run now for this key. */
  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** Counts one more for this key. @returns a function that must be called once, when it has ended */
  begin(key: string): () => void {
    this.counts.set(key, this.of(key) + 1);
    return () => {
      const remaining = this.of(key) - 1;
      if (remaining > 0) this.counts.set(key, remaining);
      else this.counts.delete(key);
    };
  }
}
