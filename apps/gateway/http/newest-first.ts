import { isoOf } from '#kernel';
import type { Cursors } from './cursor.js';
import type { QueryReader } from './query.js';

/** A row's position in a list by time: the time in ISO 8601, and the id, which orders rows of the same time. */
export interface ListPosition {
  at: string;
  id: string;
}

/** A list of rows in Postgres, newest first. */
export interface NewestFirst<Row> {
  /** A cursor is bound to these values: the list, the account and the filters. */
  scope: object;
  /** Reads at most `limit` rows: the newest rows, or the newest rows that are older than the position `before`. */
  read(limit: number, before: ListPosition | undefined): Promise<Row[]>;
  positionOf(row: Row): { at: Date; id: string };
  view(row: Row): object;
}

/**
 * Returns one page of a list. Reads `limit` and `cursor`, and finishes the query.
 * @throws Refusal `invalid`
 */
export async function pageOf<Row>(
  query: QueryReader,
  cursors: Cursors,
  { scope, read, positionOf, view }: NewestFirst<Row>,
): Promise<{ data: object[]; nextCursor?: string }> {
  const limit = query.integer('limit', 1, 200, 50);
  const cursor = query.one('cursor');
  query.finish();
  const rows = await read(
    limit + 1,
    cursor === undefined ? undefined : cursors.read<ListPosition>(scope, cursor),
  );
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const data = rows.slice(0, limit).map(view);
  if (!last) return { data };
  const { at, id } = positionOf(last);
  return { data, nextCursor: cursors.write(scope, { at: isoOf(at), id } satisfies ListPosition) };
}
