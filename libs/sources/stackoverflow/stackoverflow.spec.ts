import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { createStackoverflowConnector } from './index.js';
import { answer, question, questionId, serveFilter, serveQuestions, wrapped } from './testing/fixtures.js';
import { create, connector, read } from './testing/search.js';

describeConnector('stackoverflow', {
  create,
  criteria: criteriaOf({ query: 'lamp' }),
  // Questions only: the newest answers have their own specs.
  match: 'platform',
  serve: serveQuestions,
  pageSize: 100,
  itemIdOf: (n) => `stackoverflow:question:${questionId(n)}`,
  changedShapes: [
    {},
    [],
    { questions: [] },
    { items: {} },
    { items: [{ id: 1, name: 'x' }] },
    { items: [question(1, SPEC_NOW, { title: undefined, headline: 'Lamp' })] },
  ],
});

describe('the request to Stack Exchange', () => {
  const since = new Date('2026-03-04T11:07:00Z');
  // The search starts five minutes before `since`, at 11:02. This time is rounded down to ten minutes, so that searches
  // that are due together share a request.
  const from = new Date('2026-03-04T11:00:00Z').getTime() / 1000;

  it('asks for the questions with each term, and for the newest answers', async () => {
    const { asked } = await read({ query: 'led', terms: ['lamp', 'desk light'] }, { more: { since } });
    expect(asked).toEqual([
      `/2.3/search/advanced?q=led+lamp&order=desc&sort=creation&fromdate=${from}&site=stackoverflow&filter=withbody&pagesize=100&page=1`,
      `/2.3/search/advanced?q=led+desk+light&order=desc&sort=creation&fromdate=${from}&site=stackoverflow&filter=withbody&pagesize=100&page=1`,
      '/2.3/filters/create?base=withbody&include=answer.title;answer.link;answer.tags&unsafe=false',
      `/2.3/answers?order=desc&sort=creation&fromdate=${from}&site=stackoverflow&filter=!own&pagesize=100&page=1`,
    ]);
    expect(connector.requestsPerSearch(criteriaOf({ terms: ['lamp', 'light'] }))).toBe(3);
  });

  it('asks only for questions in mode `platform`', async () => {
    const { asked } = await read({ query: 'lamp' }, { more: { match: 'platform' } });
    expect(asked.length).toBe(1);
  });

  it('can ask for other sites, whether the filter has their short name or their address', async () => {
    const filters = { site: ['Unix.stackexchange.com', 'https://serverfault.com/', 'unix'] };
    const { asked, fetched } = await read(
      { query: 'lamp', filters },
      { answers: (path) => wrapped(path.endsWith('/answers') ? [] : [question(1, SPEC_NOW, { link: '' })]) },
    );
    expect(asked.map((path) => /site=([^&]*)/.exec(path)?.[1])).toEqual([
      'unix',
      undefined,
      'unix',
      'serverfault',
      'serverfault',
    ]);
    expect(fetched.items.map(({ itemId, url }) => [itemId, url])).toEqual([
      [`unix:question:${questionId(1)}`, `https://unix.stackexchange.com/questions/${questionId(1)}`],
      [`serverfault:question:${questionId(1)}`, `https://serverfault.com/questions/${questionId(1)}`],
    ]);
    expect(connector.requestsPerSearch(criteriaOf({ query: 'lamp', filters }))).toBe(4);
  });

  it('asks for questions with one of the tags, and ignores answers without these tags', async () => {
    const filters = { tagged: ['LED', 'node.js;c++'] };
    const answers = (path: string) =>
      path.endsWith('/answers')
        ? wrapped([
            answer(1, SPEC_NOW),
            answer(2, SPEC_NOW, { tags: ['Led'] }),
            answer(3, SPEC_NOW, { tags: undefined }),
          ])
        : wrapped([]);
    const { asked, fetched } = await read({ filters }, { answers });
    expect(asked[0]).toBe(
      '/2.3/search/advanced?tagged=led;node.js;c++&order=desc&sort=creation&site=stackoverflow&filter=withbody&pagesize=100&page=1',
    );
    expect(fetched.items.map(({ itemId }) => itemId)).toEqual(['stackoverflow:answer:7999998']);
    expect(fetched.warnings).toEqual([]);
  });

  it('is preceded by a request for the filter of answers, but only once in a session', async () => {
    const session = new Map<string, unknown>();
    await read({ query: 'lamp' }, { more: { session } });
    const { asked } = await read({ query: 'light' }, { more: { session } });
    expect(asked.filter((path) => path.includes('filters')).length).toBe(0);
  });

  it('fails, and stores nothing in the session, if the filter of answers cannot be created', async () => {
    const session = new Map<string, unknown>();
    const upstream = fakeUpstream('stackoverflow', ({ at }) =>
      at.pathname.endsWith('/filters/create') ? wrapped([{}]) : wrapped([]),
    );
    const reading = connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { session }));
    await expect(reading).rejects.toMatchObject({ kind: 'unknown_shape' });
    expect(session.size).toBe(0);
  });

  it('contains the key, which raises the quota of the day', async () => {
    const withKey = createStackoverflowConnector({ key: 'k1' });
    const { asked } = await read({ query: 'lamp' }, { of: withKey });
    expect(asked.every((path) => path.endsWith('&key=k1'))).toBe(true);
    expect([withKey, connector].map(({ budget }) => budget.quotas?.['requests']?.points)).toEqual([
      10_000, 300,
    ]);
    expect(connector.budget.quotas?.['requests']?.nextReset(SPEC_NOW)).toEqual(
      new Date('2026-03-05T00:00:00Z'),
    );
  });

  it('asks for answers only once for all searches of a batch', async () => {
    const upstream = fakeUpstream('stackoverflow', (request) => serveFilter(request) ?? wrapped([]));
    const reads = new Map<string, Promise<unknown>>();
    const shared = <T>(key: string, start: () => Promise<T>): Promise<T> => {
      const reading = (reads.get(key) as Promise<T> | undefined) ?? start();
      reads.set(key, reading);
      return reading;
    };
    const session = new Map<string, unknown>();
    await Promise.all(
      ['lamp', 'light'].map((query, n) => {
        const read = fakeContext(upstream.http, {
          shared,
          session,
          since: new Date(since.getTime() + n * 5_000),
        });
        return connector.search(criteriaOf({ query }), read);
      }),
    );
    const paths = upstream.requests.map(({ at }) => at.pathname);
    expect(paths.filter((path) => path.endsWith('/answers')).length).toBe(1);
    expect(paths.length).toBe(4);
  });
});

describe('the feed of Stack Overflow', () => {
  it('consists of the newest questions and answers', async () => {
    const upstream = fakeUpstream('stackoverflow', (request) => {
      const path = request.at.pathname;
      return (
        serveFilter(request) ??
        wrapped([path.endsWith('/answers') ? answer(1, SPEC_NOW) : question(1, SPEC_NOW)])
      );
    });
    const since = new Date('2026-03-04T11:07:00Z');
    const fetched = await connector.feed?.read(since, fakeContext(upstream.http, { since }));
    expect(fetched?.items.map(({ kind }) => kind).sort()).toEqual(['answer', 'question']);
    expect(upstream.requests.map(({ at }) => at.pathname)).toEqual([
      '/2.3/questions',
      '/2.3/filters/create',
      '/2.3/answers',
    ]);
    expect(upstream.requests[0]?.at.searchParams.get('fromdate')).toBe('1772622000');
  });

  it('needs one page of each list for 50 minutes, and is not used if a list needs more than 10 pages', () => {
    const pages = [60, 3_000, 33_000, 34_000].map((seconds) => connector.feed?.pagesFor(seconds));
    expect(pages).toEqual([2, 2, 17, Infinity]);
  });

  it.each([
    [{ query: 'lamp' }, true],
    [{ query: 'lamp', filters: { site: 'stackoverflow.com' } }, true],
    [{ query: 'lamp', filters: { site: 'unix' } }, false],
    [{ query: 'lamp', filters: { tagged: 'led' } }, false],
  ])('can serve the search %j: %s', (init, serves) => {
    expect(connector.feed?.serves?.(criteriaOf(init))).toBe(serves);
  });
});

describe('criteria on Stack Exchange', () => {
  const wantedSite = 'must be a site of Stack Exchange such as "serverfault" or "unix", or a list of them';
  it.each([
    [{}, 'query', 'a search on stackoverflow needs a query, terms or filters.tagged'],
    [{ query: 'lamp', filters: { site: 7 } }, 'filters.site', wantedSite],
    [{ query: 'lamp', filters: { site: 'a b' } }, 'filters.site', `${wantedSite}; "a b" is not valid`],
    [
      { query: 'lamp', filters: { tagged: ['c++', 'a b'] } },
      'filters.tagged',
      'must be a tag such as "node.js", or a list of them; "a b" is not valid',
    ],
    [{ filters: { tagged: 'a;b;c;d;e;f' } }, 'filters.tagged', 'must have at most 5 tags'],
    [{ query: 'lamp', sort: 'votes' }, 'sort', 'stackoverflow sorts by newest, not by "votes"'],
  ])('cannot be %j', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });
});
