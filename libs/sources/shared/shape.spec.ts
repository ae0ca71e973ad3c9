import { MAX_ENTRIES, readEntries } from './shape.js';

const readId = (entry: { id: string }) => ({ item: { itemId: entry.id.trim() } });

describe('the entries of an answer', () => {
  it('are read even if the parser throws for one entry, which is counted', () => {
    const entries = [{ id: 'a' }, { id: 5 as unknown as string }, { id: 'b' }];
    const { items, warnings } = readEntries('hackernews', entries, readId);
    expect(items).toEqual([{ itemId: 'a' }, { itemId: 'b' }]);
    expect(warnings).toEqual(['hackernews: 1 of 3 items could not be read: its shape is unknown']);
  });

  it('cause a fault if no entry can be read', () => {
    const entries = [{ id: 5 as unknown as string }];
    expect(() => readEntries('hackernews', entries, readId)).toThrow('could not be read');
  });

  it('are read up to a limit, and the entries above the limit are counted', () => {
    const entries = Array.from({ length: MAX_ENTRIES + 7 }, (_, n) => ({ id: String(n) }));
    const { items, warnings } = readEntries('hackernews', entries, readId);
    expect(items.length).toBe(MAX_ENTRIES);
    expect(warnings).toEqual([
      'hackernews: 7 of 10007 items left out: Earshot reads at most 10000 items of one answer',
    ]);
  });
});
