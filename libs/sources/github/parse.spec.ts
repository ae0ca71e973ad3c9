import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseDiscussions, parseIssues, parseRepositories } from './index.js';
import { discussion, discussions, issue, pullRequest, repository } from './testing/fixtures.js';

const issueItem = (more: Record<string, unknown> = {}) =>
  parseIssues({ items: [issue(1, SPEC_NOW, more)] }).items[0];
const pullItem = () => parseIssues({ items: [pullRequest(1, SPEC_NOW)] }).items[0];
const repositoryItem = (more: Record<string, unknown> = {}) =>
  parseRepositories({ items: [repository(1, SPEC_NOW, more)] }).items[0];
const discussionItem = (more: Record<string, unknown> = {}) =>
  parseDiscussions(discussions([discussion(1, SPEC_NOW, more)])).items[0];
const bodyOf = (item: ReturnType<typeof issueItem>) =>
  JSON.parse(item?.bodyJson ?? '{}') as Record<string, unknown>;

describe('entries of GitHub', () => {
  it('are converted to items: an issue', () => {
    expect(issueItem()).toMatchObject({
      itemId: 'I_2999999',
      eventType: 'github_item.created',
      kind: 'issue',
      url: 'https://github.com/lamps/desk/issues/4999',
      title: 'Lamp number 1 blinks',
      text: 'It is **number 1**.\n\nSee above.',
      author: 'Ada-B',
      authorUrl: 'https://github.com/Ada-B',
      community: 'lamps/desk',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 3, replies: 4 },
    });
    expect(bodyOf(issueItem())).toEqual({
      id: 'I_2999999',
      source: 'github',
      url: 'https://github.com/lamps/desk/issues/4999',
      author: 'Ada-B',
      publishedAt: '2026-03-04T12:00:00.000Z',
      kind: 'issue',
      title: 'Lamp number 1 blinks',
      text: 'It is **number 1**.\n\nSee above.',
      repository: 'lamps/desk',
      authorUrl: 'https://github.com/Ada-B',
      bot: false,
      number: 4999,
      state: 'open',
      stateReason: null,
      draft: null,
      locked: false,
      labels: ['bug'],
      comments: 4,
      reactions: 3,
      authorAssociation: 'CONTRIBUTOR',
      closedAt: null,
      mergedAt: null,
      updatedAt: '2026-03-04T12:00:00.000Z',
      language: null,
      topics: [],
      homepage: null,
      license: null,
      fork: null,
      archived: null,
      stars: null,
      forks: null,
      openIssues: null,
      pushedAt: null,
      category: null,
      answered: null,
      upvotes: null,
    });
  });

  it('are converted to items: a pull request of a bot', () => {
    expect(pullItem()).toMatchObject({ kind: 'pull_request', author: 'helper[bot]' });
    expect(bodyOf(pullItem())).toMatchObject({
      kind: 'pull_request',
      bot: true,
      draft: true,
      mergedAt: '2026-03-04T13:00:00.000Z',
    });
  });

  it('are converted to items: a repository, with its full name as the title', () => {
    expect(repositoryItem()).toMatchObject({
      itemId: 'R_699',
      kind: 'repository',
      url: 'https://github.com/lamps/lamp1',
      title: 'lamps/lamp1',
      text: 'Lamp number 1',
      author: 'lamps',
      community: 'lamps/lamp1',
      engagement: { likes: 9, shares: 2 },
    });
    expect(bodyOf(repositoryItem())).toMatchObject({
      language: 'TypeScript',
      topics: ['light'],
      homepage: null,
      license: 'MIT',
      fork: false,
      archived: false,
      stars: 9,
      forks: 2,
      openIssues: 1,
      pushedAt: '2026-03-04T14:00:00.000Z',
      updatedAt: '2026-03-04T13:00:00.000Z',
    });
    expect(repositoryItem({ description: null })?.text).toBe('');
  });

  it('are converted to items: a discussion', () => {
    expect(discussionItem()).toMatchObject({
      itemId: 'D_899',
      kind: 'discussion',
      url: 'https://github.com/lamps/desk/discussions/899',
      title: 'Which lamp, number 1?',
      text: 'Number 1?',
      author: 'Grace',
      authorUrl: 'https://github.com/Grace',
      community: 'lamps/desk',
      engagement: { likes: 1, replies: 2 },
    });
    expect(bodyOf(discussionItem())).toMatchObject({
      number: 899,
      state: 'open',
      locked: false,
      labels: ['light'],
      comments: 2,
      reactions: 1,
      category: 'Q&A',
      answered: true,
      upvotes: 6,
    });
    expect(discussionItem({ author: null })?.author).toBeUndefined();
  });

  it('have the same keys for all kinds', () => {
    const keys = [issueItem(), pullItem(), repositoryItem(), discussionItem()].map((item) =>
      Object.keys(bodyOf(item)).sort(),
    );
    expect(new Set(keys.map(String)).size).toBe(1);
  });

  it.each([[null], [{ login: 'ghost', html_url: 'https://github.com/ghost', type: 'User' }]])(
    'have no author if the account is deleted: %j',
    (user) => {
      expect(issueItem({ user })?.author).toBeUndefined();
      expect(bodyOf(issueItem({ user }))).toMatchObject({ author: null, authorUrl: null, bot: false });
    },
  );

  it('can be read from old responses, which lack `node_id` and `repository_url`', () => {
    const old = issueItem({
      node_id: undefined,
      repository_url: undefined,
      body: null,
      reactions: undefined,
      pull_request: { html_url: null, diff_url: null },
    });
    expect(old).toMatchObject({ itemId: 'issue:2999999', kind: 'issue', community: 'lamps/desk', text: '' });
    expect(old?.engagement?.likes).toBeUndefined();
  });

  it('keep their id if they are edited or moved', () => {
    const moved = issueItem({ title: 'Other words', html_url: 'https://github.com/other/place/issues/1' });
    expect(moved?.itemId).toBe('I_2999999');
  });

  it('are left out and counted if they cannot be read, while the other items are kept', () => {
    const { items, warnings, count } = parseIssues({
      items: [
        issue(1, SPEC_NOW),
        null,
        issue(2, SPEC_NOW, { html_url: null }),
        issue(3, SPEC_NOW, { created_at: 'soon' }),
        issue(4, SPEC_NOW, { title: ' ' }),
      ],
    });
    expect([items.length, count]).toEqual([1, 5]);
    expect(warnings).toEqual([
      'github: 1 of 5 items could not be read: no node_id',
      'github: 1 of 5 items could not be read: no html_url',
      'github: 1 of 5 items could not be read: no created_at',
      'github: 1 of 5 items could not be read: no title',
    ]);
  });
});
