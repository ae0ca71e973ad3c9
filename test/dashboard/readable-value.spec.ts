import { readableValue } from '../../apps/dashboard/pages/keyword-editor/readable-value.js';

const NAMES: Record<string, string> = { c1: 'Team', c2: 'Press', hackernews: 'Hacker News' };
const readable = (key: string, value: unknown) => readableValue(key, value, (_, text) => NAMES[text]);

describe('the value of a changed key, for people', () => {
  it('shows the name of each channel, not its id', () => {
    expect(readable('channels', [])).toBe('none');
    expect(
      readable('channels', [
        { channelId: 'c1', mode: 'instant' },
        { channelId: 'c2', mode: 'daily' },
      ]),
    ).toBe('Channel: Team, Mode: instant\nChannel: Press, Mode: daily');
  });

  it('shows a rule by its name, with its clauses and actions on separate lines', () => {
    const rule = {
      ...{ id: 'r1', name: 'Broken', enabled: true, source: null },
      when: { all: [{ field: 'text', op: 'contains', value: 'switch' }] },
      then: [{ type: 'notify', channelIds: ['c1', 'c2'] }],
    };
    expect(readable('rules', [rule]).split('\n')).toEqual([
      'Name: Broken, Enabled: yes',
      '  When:',
      '      All:',
      '        Field: text, Op: contains, Value: switch',
      '  Then:',
      '    Type: notify, Channels: Team | Press',
    ]);
  });

  it('shows a source by its name, with its searches, but without ids and empty values', () => {
    const entry = {
      ...{ source: 'hackernews', enabled: true },
      searches: [{ id: 's1', label: 'Complaints', overrides: { terms: ['a', 'b'], filters: {} } }],
    };
    expect(readable('sources', [entry]).split('\n')).toEqual([
      'Source: Hacker News, Enabled: yes',
      '  Searches:',
      '    Label: Complaints',
      '      Overrides:',
      '        Terms: a | b',
    ]);
  });

  it('shows each text of a list on its own line, a missing value as none, a boolean as yes or no', () => {
    expect(readable('languages', ['en', 'de'])).toBe('en\nde');
    expect([readable('webhookUrl', null), readable('aiEnabled', false)]).toEqual(['none', 'no']);
  });
});
