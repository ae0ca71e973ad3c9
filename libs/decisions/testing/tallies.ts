import type { Projection } from '#projections';
import type { Aggregate } from '../execute.js';

// Only for specs: a small aggregate and its table.

/** The table of tallies. */
export const TALLIES_TABLE =
  'CREATE TABLE tallies (id text PRIMARY KEY, total integer NOT NULL, notes text NOT NULL)';

/** An event of a tally. */
export interface Added {
  amount: number;
}

/** A decision of a tally. */
interface Adding {
  commandId: string;
  id: string;
  events: Added[];
}

/** A tally: a total, to which commands add amounts. */
export const tally: Aggregate<number, Added, Adding> = {
  stream: 'KEYWORDS',
  initial: 0,
  evolve: (total, { amount }) => total + amount,
  decode: (data) => JSON.parse(new TextDecoder().decode(data)) as Adding,
  encode: (decision) => new TextEncoder().encode(JSON.stringify(decision)),
};

/** The totals of tallies, with the amounts in the order of their events. */
export const tallies: Projection = {
  name: 'tallies-v1',
  stream: 'KEYWORDS',
  async apply(tx, messages) {
    expect(new Set(messages.map((message) => message.subject)).size).toBe(messages.length);
    for (const { data } of messages) {
      const { id, events } = tally.decode(data);
      for (const { amount } of events)
        await tx.query(
          `INSERT INTO tallies VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE
           SET total = tallies.total + $2, notes = tallies.notes || ' ' || $3`,
          [id, amount, String(amount)],
        );
    }
  },
};
