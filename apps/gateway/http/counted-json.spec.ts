import fc from 'fast-check';
import { Refusal } from '#kernel';
import { MAX_ELEMENTS, MAX_LEVELS, MAX_VALUES, refuseOversizeJson } from './counted-json.js';

function faultOf(text: string): { path: string; message: string } | undefined {
  try {
    refuseOversizeJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.details?.[0];
    throw error;
  }
}

const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const zeros = (count: number) => `[${Array(count).fill(0).join(',')}]`;

/** Returns the number of levels of a parsed value, and the number of elements of its largest list or object. */
function measureOf(value: unknown): { levels: number; widest: number } {
  if (typeof value !== 'object' || value === null) return { levels: 0, widest: 0 };
  const inner = Object.values(value).map(measureOf);
  return {
    levels: 1 + Math.max(0, ...inner.map(({ levels }) => levels)),
    widest: Math.max(inner.length, ...inner.map(({ widest }) => widest)),
  };
}

describe('counting JSON text', () => {
  it('accepts 32 levels and refuses 33 [requests.nesting]', () => {
    expect(faultOf(lists(MAX_LEVELS))).toBeUndefined();
    expect(faultOf(lists(MAX_LEVELS + 1))).toEqual({ path: '', message: 'is nested deeper than 32 levels' });
    expect(faultOf('['.repeat(500_000))?.message).toBe('is nested deeper than 32 levels');
  });

  it('accepts a list of 1000 elements, and refuses a longer list with the path of the list', () => {
    const body = (count: number) =>
      `{"a":[{"b":1},{"list \\"of\\" \\\\":{"inner" : ${zeros(count)}}}],"c":{}}`;
    expect(faultOf(body(MAX_ELEMENTS))).toBeUndefined();
    expect(faultOf(body(MAX_ELEMENTS + 1))).toEqual({
      path: 'a[1].list "of" \\.inner',
      message: 'has more than 1000 elements, the maximum of a list',
    });
  });

  it('refuses an object of more than 1000 keys', () => {
    const keys = Array.from({ length: MAX_ELEMENTS + 1 }, (_, n) => `"k${n}":1`);
    expect(faultOf(`{"filters":{${keys.join()}}}`)).toEqual({
      path: 'filters',
      message: 'has more than 1000 keys, the maximum of an object',
    });
  });

  it('refuses more than 8000 values, even if no list has more than 1000 elements', () => {
    const eight = `[${Array<string>(8).fill(zeros(MAX_ELEMENTS)).join()}]`;
    expect(faultOf(eight)).toEqual({
      path: '',
      message: `has more than ${MAX_VALUES} values, the maximum of one request`,
    });
  });

  it('does not count brackets and commas inside strings', () => {
    expect(
      faultOf(JSON.stringify({ a: ',[{'.repeat(20_000), ['"\\,['.repeat(5000)]: '\\"' })),
    ).toBeUndefined();
  });

  it('does not refuse text that is not JSON', () => {
    for (const text of ['', '"', '{"a', '}', ']]]', '"\\', '{"a" "b":1}', 'null,'])
      expect(faultOf(text)).toBeUndefined();
  });

  it('refuses JSON of at most 8000 values if, and only if, it exceeds 32 levels or 1000 elements', () => {
    const nested = fc.tuple(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 40 }), fc.boolean());
    fc.assert(
      fc.property(nested, ([value, depth, pretty]) => {
        let body: unknown = value;
        for (let level = 0; level < depth; level += 1) body = level % 2 ? { ',[': body } : [body];
        const { levels, widest } = measureOf(body);
        const isOver = levels > MAX_LEVELS || widest > MAX_ELEMENTS;
        expect(faultOf(JSON.stringify(body, null, pretty ? 2 : 0)) !== undefined).toBe(isOver);
      }),
    );
  });
});
