import type { FastifyRequest } from 'fastify';
import { queryOf } from '../../context.js';
import type { ParameterFault } from './parameters.js';

/** One page of a list, and its `meta`. */
export interface ListPage<T> {
  shown: T[];
  meta: { result_count: number; next_token?: string; previous_token?: string };
}

/**
 * How a list is paged. A token names the entry after which the page begins; a backward token names the entry before
 * which the page ends.
 */
export interface Paging<T> {
  /** The prefix of this list's tokens. */
  prefix: string;
  /** Returns the id of an entry, as digits. */
  idOf(entry: T): string;
  /** Default number of entries on a page. */
  size: number;
  /** True if the list also returns `previous_token`. */
  isTwoWay: boolean;
}

/** Reads one page. Returns the fault of the parameter if the token is invalid or belongs to another list. */
export function readPage<T>(
  list: readonly T[],
  request: FastifyRequest,
  { prefix, idOf, size, isTwoWay }: Paging<T>,
): ListPage<T> | { fault: ParameterFault } {
  const { one } = queryOf(request);
  const limit = Number(one('max_results') ?? size);
  const name = one('next_token') === undefined ? 'pagination_token' : 'next_token';
  const token = one(name);
  let [from, to] = [0, limit];
  if (token !== undefined) {
    const [direction, id] = readToken(token, prefix);
    const at = list.findIndex((entry) => idOf(entry) === id);
    const isBack = direction === 'b';
    if (at < 0 || (isBack && !isTwoWay)) {
      const message = `The \`${name}\` query parameter value [${token}] is not valid`;
      return { fault: { parameters: { [name]: [token] }, message } };
    }
    [from, to] = isBack ? [Math.max(0, at - limit), at] : [at + 1, at + 1 + limit];
  }
  const shown = list.slice(from, to);
  const [first, last] = [shown[0], shown.at(-1)];
  const tokenOf = (direction: 'a' | 'b', entry: T) =>
    `${prefix}${direction}${BigInt(idOf(entry)).toString(36)}`;
  return {
    shown,
    meta: {
      result_count: shown.length,
      ...(last && to < list.length && { next_token: tokenOf('a', last) }),
      ...(first && isTwoWay && from > 0 && { previous_token: tokenOf('b', first) }),
    },
  };
}

function readToken(token: string, prefix: string): [string, string] | [undefined, undefined] {
  const [, direction = '', digits = ''] = /^([ab])([0-9a-z]{1,14})$/.exec(token.slice(prefix.length)) ?? [];
  if (!token.startsWith(prefix) || digits === '') return [undefined, undefined];
  const id = [...digits].reduce((sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)), 0n);
  return [direction, String(id)];
}
