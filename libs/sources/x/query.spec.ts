import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createXConnector } from './index.js';

const connector = createXConnector({ token: 't0ken' });

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('x', () => ({ body: { meta: { result_count: 0 } } }));
  const fetched = await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return { fetched, requests: upstream.requests };
}

async function queries(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  return (await asked(init, more)).requests.map(({ at }) => at.searchParams.get('query'));
}

describe('the request to X', () => {
  it('is a search of recent tweets with the token of the application, and names the fields that X must send', async () => {
    const { requests } = await asked({ query: 'lamp' });
    const [request] = requests;
    expect(request).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer t0ken' } });
    expect(`${request?.at.origin}${request?.at.pathname}`).toBe('https://api.x.com/2/tweets/search/recent');
    expect(Object.fromEntries(request?.at.searchParams ?? [])).toEqual({
      query: 'lamp -is:retweet',
      max_results: '100',
      sort_order: 'recency',
      'tweet.fields':
        'author_id,created_at,conversation_id,entities,public_metrics,referenced_tweets,in_reply_to_user_id,lang,edit_controls,edit_history_tweet_ids,note_tweet,possibly_sensitive,attachments,display_text_range,source',
      expansions:
        'author_id,attachments.media_keys,attachments.poll_ids,referenced_tweets.id,referenced_tweets.id.author_id,in_reply_to_user_id',
      'user.fields': 'username,name,verified,verified_type,profile_image_url,protected,public_metrics',
      'media.fields': 'url,preview_image_url,width,height,duration_ms,variants',
      'poll.fields': 'options,end_datetime,voting_status',
    });
  });

  it.each([
    [{ query: 'led', terms: ['lamp', 'desk light'] }, 'led (lamp OR "desk light") -is:retweet'],
    [{ terms: ['lamp', 'Lamp', ' light '] }, '(lamp OR light) -is:retweet'],
    [{ query: 'led', terms: ['lamp'] }, 'led lamp -is:retweet'],
    [{ terms: ['#LEDlamp', '@Ada_Lamps', '$LED'] }, '(#LEDlamp OR @Ada_Lamps OR "$LED") -is:retweet'],
  ])('turns %j into the query `%s`', async (init, query) => {
    expect(await queries(init)).toEqual([query]);
  });

  it.each([
    ['from:ada', '"from:ada"'],
    ['-lamp', '"-lamp"'],
    ['(lamp', '"(lamp"'],
    ['OR', '"OR"'],
    ['and', '"and"'],
    ['or', '"or"'],
    ['lamp" OR from:ada "', '"lamp OR from:ada"'],
    ['lamp\\', 'lamp'],
    ['desk lamp\\', '"desk lamp"'],
    ['@ada lovelace', '"@ada lovelace"'],
    ['#1', '"#1"'],
  ])('contains the term `%s` as text, and not as an operator', async (term, written) => {
    expect(await queries({ query: term })).toEqual([`${written} -is:retweet`]);
    expect(await queries({ terms: [term, 'led'] })).toEqual([`(${written} OR led) -is:retweet`]);
  });

  it.each([
    [{ query: 'from:ada lamp -led' }, 'from:ada lamp -led -is:retweet'],
    [{ query: 'lamp OR light' }, '(lamp OR light) -is:retweet'],
    [
      { query: 'lamp OR light', terms: ['url:lamps.example', 'led'] },
      '(lamp OR light) (url:lamps.example OR led) -is:retweet',
    ],
  ])('contains the words of %j unchanged in mode `platform`', async (init, query) => {
    expect(await queries(init, { match: 'platform' })).toEqual([query]);
  });

  it('is limited by the filters', async () => {
    const filters = {
      lang: ['en', 'de'],
      from: '@Ada_Lamps',
      has: ['images', 'videos'],
      verified: true,
      exclude: ['replies', 'quotes'],
      other: 1,
    };
    expect(await queries({ query: 'lamp', repliesTo: '@Lamps_Inc', filters })).toEqual([
      'lamp to:Lamps_Inc from:Ada_Lamps (lang:en OR lang:de) (has:images OR has:videos) is:verified -is:reply -is:quote -is:retweet',
    ]);
  });

  it('needs no words if it names an account', async () => {
    expect(await queries({ repliesTo: 'Lamps_Inc' })).toEqual(['to:Lamps_Inc -is:retweet']);
    expect(await queries({ filters: { from: ['Ada_Lamps', 'GraceH'] } })).toEqual([
      '(from:Ada_Lamps OR from:GraceH) -is:retweet',
    ]);
  });

  it('is split into several searches if the terms are too long for one', async () => {
    const terms = Array.from({ length: 50 }, (_, n) => `a term of some length, number ${n}`);
    const init = { query: 'led', terms, filters: { lang: 'en' } };
    const found = await queries(init);
    expect(found.length).toBe(5);
    expect(found.every((query) => (query ?? '').length <= 512)).toBe(true);
    expect(found.every((query) => /^led \(?"a term.*"\)? lang:en -is:retweet$/.test(query ?? ''))).toBe(true);
    expect(found.join().match(/number \d+/g)?.length).toBe(50);
    expect(connector.requestsPerSearch(criteriaOf(init))).toBe(5);
  });

  it('asks for the most relevant tweets if the search is sorted by relevancy', async () => {
    const { requests } = await asked({ query: 'lamp', sort: 'relevancy' });
    expect(requests[0]?.at.searchParams.get('sort_order')).toBe('relevancy');
  });

  it.each([
    [{}, 'query', 'a search on x needs a query, terms, repliesTo or filters.from'],
    [{ filters: { lang: 'en' } }, 'query', 'a search on x needs a query, terms, repliesTo or filters.from'],
    [{ query: '""' }, 'query', 'contains nothing that x can search for'],
    [{ query: 'x', terms: ['"', 'y'] }, 'terms', 'contains nothing that x can search for'],
    [{ repliesTo: 'not a name' }, 'repliesTo', '"not a name" is not the name of an account on x'],
    [{ query: 'x', sort: 'new' }, 'sort', 'x sorts by recency, relevancy, not by "new"'],
    [
      { query: 'x', filters: { lang: 7 } },
      'filters.lang',
      'must be a language code of x, such as "en", or a list of them',
    ],
    [
      { query: 'x', filters: { from: ['ok', 'much_too_long_a_name'] } },
      'filters.from',
      'must be the name of an account, or a list of names; "much_too_long_a_name" is not valid',
    ],
    [
      { query: 'x', filters: { has: 'cats' } },
      'filters.has',
      'must be one of images, videos, media, links, hashtags, mentions, or a list of them; "cats" is not valid',
    ],
    [
      { query: 'x', filters: { exclude: 'retweets' } },
      'filters.exclude',
      'must be one of replies, quotes, or a list of them; "retweets" is not valid',
    ],
    [{ query: 'x', filters: { verified: 'yes' } }, 'filters.verified', 'must be true or false'],
    [
      { query: 'lamp '.repeat(96), terms: ['a term of some length', 'led'] },
      'query',
      'x takes at most 512 characters for the query, one term and the filters; these are 517',
    ],
  ])('is not possible for %j', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });
});
