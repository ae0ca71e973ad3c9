import { isoOf } from '#kernel';
import type { Cursors } from './cursor.js';
import type { QueryReader } from './query.js';

/** A row's place in a list by time: ISO 8601, and the id that orders rows of the same time. */
export interface Place {
  at: string;
  id: string;
}

/** A list of Postgres, newest first. */
export interface NewestFirst<Row> {
  /** A cursor is bound to these values: the list, the account and the filters. */
  scope: object;
  /** Reads at most `limit` rows before a place. */
  read(limit: number, before: Place | undefined): Promise<Row[]>;
  placeOf(row: Row): { at: Date; id: string };
  view(row: Row): object;
}

/**
 * One page of a list. Reads `limit` and `cursor`, and finishes the query.
 * @throws Refusal `invalid`
 */
export async function pageOf<Row>(
  query: QueryReader,
  cursors: Cursors,
  { scope, read, placeOf, view }: NewestFirst<Row>,
): Promise<{ data: object[]; nextCursor?: string }> {
  const limit = query.integer('limit', 1, 200, 50);
  const cursor = query.one('cursor');
  query.finish();
  const rows = await read(limit + 1, cursor === undefined ? undefined : cursors.read<Place>(scope, cursor));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const data = rows.slice(0, limit).map(view);
  if (!last) return { data };
  const { at, id } = placeOf(last);
  return { data, nextCursor: cursors.write(scope, { at: isoOf(at), id } satisfies Place) };
}
