import { setImmediate as nextTurn } from 'node:timers/promises';
import { Outage } from '#kernel';
import { fakeOnly } from '#testing';
import { GroupedWrites } from './grouped-writes.js';

/** Starts writes that end only when the spec says so. */
function heldWrites(refuses: (values: readonly number[]) => Error | undefined = () => undefined) {
  const begun: number[][] = [];
  const ends: (() => void)[] = [];
  const writes = new GroupedWrites<number>(async (values) => {
    begun.push([...values]);
    await new Promise<void>((resolve) => ends.push(resolve));
    const error = refuses(values);
    if (error) throw error;
  });
  const end = async () => {
    ends.shift()?.();
    await nextTurn();
  };
  return { writes, begun, end };
}

afterEach(() => void jest.useRealTimers());

describe('grouped writes', () => {
  it('write the first value immediately, and then together the values that arrived during this write', async () => {
    const { writes, begun, end } = heldWrites();
    const stored = [1, 2, 3].map((value) => writes.add(value));
    await nextTurn();
    expect(begun).toEqual([[1]]);
    stored.push(writes.add(4));
    await end();
    expect(begun).toEqual([[1], [2, 3, 4]]);
    await end();
    await Promise.all(stored);
    expect(begun).toHaveLength(2);
  });

  it('resolve only the values of the write that has ended', async () => {
    const { writes, end } = heldWrites();
    const resolved: number[] = [];
    for (const value of [1, 2]) void writes.add(value).then(() => resolved.push(value));
    await nextTurn();
    await end();
    expect(resolved).toEqual([1]);
    await end();
    expect(resolved).toEqual([1, 2]);
  });

  it('wait at most 2 s for a write that hangs', async () => {
    jest.useFakeTimers(fakeOnly('setTimeout', 'clearTimeout'));
    const { writes, begun } = heldWrites();
    for (const value of [1, 2]) void writes.add(value);
    await nextTurn();
    jest.advanceTimersByTime(1999);
    await nextTurn();
    expect(begun).toEqual([[1]]);
    jest.advanceTimersByTime(1);
    await nextTurn();
    expect(begun).toEqual([[1], [2]]);
  });

  it('wait for the present write if two earlier writes hang, so that other requests keep their connections', async () => {
    jest.useFakeTimers(fakeOnly('setTimeout', 'clearTimeout'));
    const { writes, begun, end } = heldWrites();
    for (const value of [1, 2, 3, 4]) {
      void writes.add(value);
      await nextTurn();
      jest.advanceTimersByTime(2000);
      await nextTurn();
    }
    expect(begun).toEqual([[1], [2], [3]]);
    await end();
    await nextTurn();
    expect(begun).toEqual([[1], [2], [3]]);
    await end();
    await end();
    await nextTurn();
    expect(begun).toEqual([[1], [2], [3], [4]]);
  });

  it('write the values of a failed group alone, so that only the faulty value is rejected', async () => {
    const fault = new Error('cannot be stored');
    const { writes, begun, end } = heldWrites((values) => (values.includes(3) ? fault : undefined));
    const stored = Promise.allSettled([1, 2, 3, 4].map((value) => writes.add(value)));
    await nextTurn();
    for (let n = 0; n < 5; n += 1) await end();
    const results = await stored;
    expect(begun).toEqual([[1], [2, 3, 4], [2], [3], [4]]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(results[2]).toMatchObject({ reason: fault });
  });

  it('reject all values of a group during an outage, and do not write these values one by one', async () => {
    const { writes, begun, end } = heldWrites((values) =>
      values.includes(2) ? new Outage('Postgres', new Error('no connection')) : undefined,
    );
    const stored = Promise.allSettled([1, 2, 3].map((value) => writes.add(value)));
    await nextTurn();
    for (let n = 0; n < 2; n += 1) await end();
    expect((await stored).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(begun).toEqual([[1], [2, 3]]);
  });

  it('reject the remaining values of a failed group if an outage begins while the values are written one by one', async () => {
    const outage = new Outage('Postgres', new Error('no connection'));
    const { writes, begun, end } = heldWrites((values) =>
      values.length > 1 ? new Error('cannot be stored') : values.includes(3) ? outage : undefined,
    );
    const stored = Promise.allSettled([1, 2, 3, 4, 5].map((value) => writes.add(value)));
    await nextTurn();
    for (let n = 0; n < 6; n += 1) await end();
    expect((await stored).map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(begun).toEqual([[1], [2, 3, 4, 5], [2], [3]]);
  });

  it('write at most 100 values at once', async () => {
    const { writes, begun, end } = heldWrites();
    const stored = Array.from({ length: 202 }, (_, value) => writes.add(value));
    await nextTurn();
    for (let n = 0; n < 4; n += 1) await end();
    await Promise.all(stored);
    expect(begun.map(({ length }) => length)).toEqual([1, 100, 100, 1]);
  });
});
