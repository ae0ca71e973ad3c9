import { changedPart, overwrittenPart } from '../../apps/dashboard/parts/changed-part.js';

const BEFORE = { name: 'Acme', rules: [{ id: '1', name: 'a' }], schedule: null };

describe('the save of a changed definition', () => {
  it('sends only the keys whose values have changed, ignoring the order of keys within a value', () => {
    const after = { ...BEFORE, name: 'Acme 2', rules: [{ name: 'a', id: '1' }] };
    expect(changedPart(BEFORE, after)).toEqual({ name: 'Acme 2' });
  });

  it('overwrites the values that both members have changed differently', () => {
    const theirs = { ...BEFORE, rules: [{ id: '1', name: 'theirs' }] };
    const mine = { ...BEFORE, rules: [{ id: '1', name: 'mine' }] };
    expect(overwrittenPart(BEFORE, mine, theirs)).toEqual({ rules: theirs.rules });
    expect(overwrittenPart(BEFORE, theirs, theirs)).toEqual({});
    expect(overwrittenPart(BEFORE, { ...BEFORE, name: 'Acme 2' }, theirs)).toEqual({});
    expect(overwrittenPart(BEFORE, BEFORE, theirs)).toEqual({});
    expect(overwrittenPart(BEFORE, mine, BEFORE)).toEqual({});
  });
});
