import { changedPart, overwrittenPart } from '../../apps/dashboard/parts/changed-part.js';

const BEFORE = { name: 'Acme', rules: [{ id: '1', name: 'a' }], schedule: null };

describe('the part of a definition that a save', () => {
  it('sends has the changed keys, and the order of keys within a value does not count', () => {
    const after = { ...BEFORE, name: 'Acme 2', rules: [{ name: 'a', id: '1' }] };
    expect(changedPart(BEFORE, after)).toEqual({ name: 'Acme 2' });
  });

  it('would overwrite has the values that both members have changed, and differently', () => {
    const theirs = { ...BEFORE, rules: [{ id: '1', name: 'theirs' }] };
    const mine = { ...BEFORE, rules: [{ id: '1', name: 'mine' }] };
    expect(overwrittenPart(BEFORE, mine, theirs)).toEqual({ rules: theirs.rules });
    expect(overwrittenPart(BEFORE, theirs, theirs)).toEqual({});
    expect(overwrittenPart(BEFORE, { ...BEFORE, name: 'Acme 2' }, theirs)).toEqual({});
    expect(overwrittenPart(BEFORE, BEFORE, theirs)).toEqual({});
    expect(overwrittenPart(BEFORE, mine, BEFORE)).toEqual({});
  });
});
