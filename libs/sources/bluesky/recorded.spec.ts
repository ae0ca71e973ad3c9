import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { describeRecorded, type Outcome } from '../testing/recorded-answers.js';
import { createBlueskyConnector } from './index.js';
import { serveSignIn } from './testing/fixtures.js';

const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

describeRecorded(
  'bluesky',
  {
    'searchPosts-1.json': {
      items: 100,
      first: 'at://did:plc:xxppgquw2duy3v2qh6mg5oiv/app.bsky.feed.post/3lt4t5vltz22t',
      last: 'at://did:plc:vgvueqvmbqgoyxtcdebqdcgb/app.bsky.feed.post/3lt2b7kokty22',
      digest: 'fc4d734c1f2a',
    },
    'searchPosts-2.json': {
      items: 1,
      ids: ['at://did:plc:ntd53albt5ffa4rgervvgibd/app.bsky.feed.post/3lcmymlgxwa2t'],
    },
    'searchPosts-3.json': {
      items: 25,
      first: 'at://did:plc:kkergqgbhb56ptpwj2wenkje/app.bsky.feed.post/3lpk2u6qo222m',
      last: 'at://did:plc:7nagdvjqrzaquzk7mueohne5/app.bsky.feed.post/3lpica7sxmk2u',
      digest: 'c580447b9908',
    },
    'getQuotes-1.json': {
      items: 2,
      ids: [
        'at://did:plc:3ixxligsafp4u6ghljcoetnm/app.bsky.feed.post/3lc6isqcp6u2y',
        'at://did:plc:wpe35pganb6d4pg4ekmfy6u5/app.bsky.feed.post/3lc5d6zspys2c',
      ],
      notPolled: 'the quotes of one post',
    },
    'getPosts-1.json': {
      items: 1,
      ids: ['at://did:plc:ic6zqvuw5ulmfpjiwnhsr2ns/app.bsky.feed.post/3k7qmjev5lr2s'],
      notPolled: 'a lookup of posts',
    },
    'getAuthorFeed-1.json': notPolled('the posts of one account'),
    'getAuthorFeed-2.json': notPolled('the posts of one account'),
    'getPostThread-1.json': notPolled('a thread'),
    'http-400-1.json': { error: 'unexpected_status' },
    'http-401-1.json': { error: 'unauthorized' },
    'http-429-1.json': { error: 'rate_limited' },
  },
  ({ status, headers, bytes }) => {
    const upstream = fakeUpstream(
      'bluesky',
      (request) => serveSignIn(request) ?? { status, headers, body: bytes },
    );
    const connector = createBlueskyConnector({ clientId: 'us', clientSecret: 'app-pass' });
    return connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
  },
);
