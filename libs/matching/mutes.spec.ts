import { Folder } from './fold.js';
import { applyMutes, effectiveMute, foldHandle, vipOf } from './index.js';
import type { Candidate, MuteRule } from './index.js';

const candidate: Candidate = {
  source: 'reddit',
  title: 'Hiring rocket scientists',
  text: 'Acme pays well. See https://jobs.example/giveaway',
  author: 'Ada_L',
  community: 'RocketJobs',
};
const muted = (mute: MuteRule, on: Candidate = candidate) => applyMutes([mute], on).hit !== undefined;

describe('mutes', () => {
  it('search title and body for whole words by default', () => {
    expect(effectiveMute('hiring')).toEqual({ value: 'hiring', target: 'text', source: null, match: 'word' });
    expect(muted({ value: 'HIRING' })).toBe(true);
    expect(muted({ value: 'pays well' })).toBe(true);
    expect(muted({ value: 'hir' })).toBe(false);
    expect(muted({ value: 'hir', match: 'contains' })).toBe(true);
    expect(muted({ value: 'hiring', target: 'body' })).toBe(false);
    expect(muted({ value: 'acme', target: 'title' })).toBe(false);
    expect(muted({ value: '  hiring rocket Scientists', target: 'title', match: 'exact' })).toBe(true);
    expect(muted({ value: 'hiring', target: 'text', match: 'exact' })).toBe(false);
  });

  it('search inside URLs only if their value contains a dot or a slash', () => {
    expect(muted({ value: 'giveaway', match: 'contains' })).toBe(false);
    expect(muted({ value: 'jobs.example' })).toBe(true);
  });

  it('compare the whole name of an author or community by default, ignoring case and prefix', () => {
    expect(effectiveMute({ value: 'x', target: 'author' }).match).toBe('exact');
    for (const value of ['ada_l', '@Ada_L', 'u/ADA_L', '/u/ada_l']) {
      expect(muted({ value, target: 'author' })).toBe(true);
    }
    expect(muted({ value: 'ada', target: 'author' })).toBe(false);
    expect(muted({ value: 'ada', target: 'author', match: 'contains' })).toBe(true);
    expect(muted({ value: 'r/rocketjobs', target: 'community' })).toBe(true);
    expect(muted({ value: 'rocket', target: 'community', match: 'word' })).toBe(false);
    const bluesky = { ...candidate, author: 'acme.bsky.example' };
    expect(muted({ value: 'acme', target: 'author', match: 'word' }, bluesky)).toBe(true);
  });

  it('never match if the author or community is missing, or if the muted value is blank or only quotes', () => {
    const anonymous = { source: 'rss', title: '', text: '' };
    expect(muted({ value: 'ada', target: 'author', match: 'contains' }, anonymous)).toBe(false);
    expect(muted({ value: 'ada', target: 'community' }, anonymous)).toBe(false);
    expect(muted({ value: '\u200b', match: 'contains' })).toBe(false);
    expect(muted({ value: '" "' })).toBe(false);
    expect(muted({ value: '" "', target: 'author', match: 'word' })).toBe(false);
  });

  it('apply only to the source that they name, otherwise to all sources, and report their outcomes in order', () => {
    const mutes: MuteRule[] = [
      { value: 'acme', source: 'hackernews' },
      { value: 'nothing', target: '', match: '' },
      { value: 'acme', source: 'reddit' },
      { value: 'hiring', source: null },
    ];
    const { hit, verdicts } = applyMutes(mutes, candidate);
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['other_source', 'passed', 'muted', 'muted']);
    expect(hit).toEqual({ value: 'acme', target: 'text', source: 'reddit', match: 'word', outcome: 'muted' });
    expect(applyMutes([], candidate)).toEqual({ hit: undefined, verdicts: [] });
  });

  it('read a long text at most twice, for any number of mutes', () => {
    const text = 'Acme pays well. '.repeat(4_000);
    const kinds = [{}, { match: 'contains' }, { match: 'exact' }, { target: 'body' }];
    const mutes = Array.from({ length: 50 }, (_, n) => ({ value: `mute ${n}`, ...kinds[n % 4] }));
    const fold = jest.spyOn(Folder.prototype, 'fold');
    expect(applyMutes(mutes, { ...candidate, text }).hit).toBeUndefined();
    const times = fold.mock.calls.filter(([folded]) => folded === text).length;
    fold.mockRestore();
    expect(times).toBe(2);
  });

  it('take their values literally', () => {
    expect(muted({ value: '.*' })).toBe(false);
    expect(muted({ value: '(a+)+$', match: 'contains' })).toBe(false);
  });
});

describe('VIP authors', () => {
  const vips = [
    { handle: '@someone' },
    { handle: 'u/ada_l', source: 'hackernews', note: 'elsewhere' },
    { handle: 'ADA_L', source: null, note: 'everywhere' },
  ];

  it('are matched by handle, on their source or on every source', () => {
    expect(vipOf(vips, candidate)?.note).toBe('everywhere');
    expect(vipOf(vips, { ...candidate, source: 'hackernews' })?.note).toBe('elsewhere');
    expect(vipOf(vips, { ...candidate, author: 'ada' })).toBeUndefined();
    expect(vipOf(vips, { ...candidate, author: undefined })).toBeUndefined();
    expect(vipOf([], candidate)).toBeUndefined();
  });

  it('are compared without case and prefix, but with the server part of the handle', () => {
    expect(foldHandle('@Ada@Social.Example')).toBe('ada@social.example');
    expect(foldHandle('/u/Ada')).toBe('ada');
    expect(foldHandle('r/Rockets')).toBe('rockets');
    expect(foldHandle('r2d2')).toBe('r2d2');
  });
});
