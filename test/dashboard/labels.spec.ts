import { toggleOf, withLabel } from '../../apps/dashboard/pages/feed/labels.js';

describe('a changed label', () => {
  it('is added if the shown mention does not have it, and keeps the labels that a colleague has set meanwhile', () => {
    const change = toggleOf([], 'starred');
    expect(withLabel(['flagged'], change)).toEqual(['flagged', 'starred']);
    expect(withLabel(['starred', 'flagged'], change)).toEqual(['flagged', 'starred']);
  });

  it('is removed if the shown mention has it, and keeps the labels that a colleague has set meanwhile', () => {
    const change = toggleOf(['starred'], 'starred');
    expect(withLabel(['starred', 'flagged'], change)).toEqual(['flagged']);
    expect(withLabel(['flagged'], change)).toEqual(['flagged']);
  });
});
