import { accuracyOf } from './accuracy.js';

const READER = { reader: 'local', model: 'm', version: '1' };
const count = (corrected: string, read: string, n: number, reader = READER) => ({
  ...reader,
  corrected,
  read,
  count: n,
});

describe('the accuracy of a reader', () => {
  it('contains the agreement, the macro averages and the figures of each value', () => {
    const [accuracy] = accuracyOf([
      count('positive', 'positive', 3),
      count('positive', 'neutral', 1),
      count('negative', 'negative', 1),
      count('negative', 'positive', 1),
    ]);
    expect(accuracy).toMatchObject({
      ...READER,
      n: 6,
      agreement: 0.6667,
      macroRecall: 0.625,
      macroF1: 0.7083,
    });
    expect(accuracy?.byValue).toEqual([
      { value: 'negative', n: 2, precision: 1, recall: 0.5 },
      { value: 'neutral', n: 0, precision: 0, recall: null },
      { value: 'positive', n: 4, precision: 0.75, recall: 0.75 },
    ]);
    expect(accuracy?.confusion).toContainEqual({ corrected: 'positive', read: 'neutral', count: 1 });
  });

  it('is separate for each version, and empty without corrections', () => {
    const versions = accuracyOf([count('a', 'a', 1), count('a', 'b', 1, { ...READER, version: '2' })]);
    expect(versions.map(({ version, agreement }) => [version, agreement])).toEqual([
      ['1', 1],
      ['2', 0],
    ]);
    expect(accuracyOf([])).toEqual([]);
  });
});
