import fc from 'fast-check';
import { Refusal } from '#kernel';
import { Cursors } from './cursor.js';

const cursors = new Cursors('ab'.repeat(32));
const position = fc.record({ at: fc.string(), id: fc.uuid(), since: fc.integer() });
const scope = fc.record({
  list: fc.string(),
  accountId: fc.uuid(),
  filter: fc.dictionary(fc.string(), fc.string()),
});

function refusalOf(read: () => unknown): Refusal {
  try {
    read();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('the cursor was accepted');
}

describe('cursors', () => {
  it('contain a position that can be read again, and are safe in a URL', () => {
    fc.assert(
      fc.property(scope, position, (of, at) => {
        const cursor = cursors.write(of, at);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(cursors.read(of, cursor)).toEqual(at);
      }),
    );
  });

  it('stay valid if the keys of the filter have another order', () => {
    const cursor = cursors.write({ a: 1, b: { c: 2, d: 3 } }, 7);
    expect(cursors.read({ b: { d: 3, c: 2 }, a: 1 }, cursor)).toBe(7);
  });

  it('cause a 400 if any of their bits was changed [requests.cursor-bound]', () => {
    fc.assert(
      fc.property(scope, position, fc.nat(), fc.integer({ min: 0, max: 7 }), (of, at, where, bit) => {
        const bytes = Buffer.from(cursors.write(of, at), 'base64url');
        const index = where % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
        const { kind, code } = refusalOf(() => cursors.read(of, bytes.toString('base64url')));
        expect([kind, code]).toEqual(['invalid', 'VALIDATION']);
      }),
    );
  });

  it('cause a 400 if they contain inserted characters that decoding would skip [requests.cursor-bound]', () => {
    fc.assert(
      fc.property(
        scope,
        position,
        fc.nat(),
        fc.constantFrom('=', '!', '.', ' ', '%'),
        (of, at, where, more) => {
          const cursor = cursors.write(of, at);
          const index = where % (cursor.length + 1);
          const changed = cursor.slice(0, index) + more + cursor.slice(index);
          expect(refusalOf(() => cursors.read(of, changed)).kind).toBe('invalid');
        },
      ),
    );
  });

  it('cause a 400 if they are used for another list, account or filter [requests.cursor-bound]', () => {
    fc.assert(
      fc.property(scope, scope, position, (of, other, at) => {
        fc.pre(JSON.stringify(of) !== JSON.stringify(other));
        expect(refusalOf(() => cursors.read(other, cursors.write(of, at))).kind).toBe('invalid');
      }),
    );
  });

  it.each(['', 'A', 'not a cursor', '%%%', 'x'.repeat(5000)])('cause a 400 if the text is %j', (text) => {
    const refusal = refusalOf(() => cursors.read({}, text));
    expect(refusal.details).toEqual([
      { path: 'cursor', message: 'is not a cursor of this list with these filters; begin without a cursor' },
    ]);
  });

  it('are valid at another gateway with the same master key, and at no gateway with another key', () => {
    const cursor = cursors.write({}, 1);
    expect(new Cursors('ab'.repeat(32)).read({}, cursor)).toBe(1);
    expect(refusalOf(() => new Cursors('cd'.repeat(32)).read({}, cursor)).kind).toBe('invalid');
  });
});
