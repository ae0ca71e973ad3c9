import iconv from 'iconv-lite';
import { parseFeedAnswer } from './index.js';
import { FEED_URL, rss } from './testing/fixtures.js';

describe('encodings of feeds', () => {
  const words = 'Große Lampe für Łódź';
  const russian = 'Лампа светит ярко, и всем это очень нравится каждый вечер';
  const feedIn = (text: string, declared?: string) =>
    rss(`<item><guid>1</guid><title>${text}</title></item>`).replace(
      ' encoding="utf-8"',
      declared ? ` encoding="${declared}"` : '',
    );
  const titleOf = (bytes: Buffer, contentType?: string) =>
    parseFeedAnswer(bytes, { feedUrl: FEED_URL, url: FEED_URL, contentType }).items[0]?.title;

  /** Returns the feed with 日本 in ISO-2022-JP in place of the title X. */
  const japanese = (feed: string) => {
    const [before = '', after = ''] = feed.split('X</title>');
    const word = Buffer.from('1b2442467c4b5c1b2842', 'hex');
    return Buffer.concat([Buffer.from(before), word, Buffer.from(`</title>${after}`)]);
  };

  it.each([
    ['UTF-8 without a declaration', Buffer.from(feedIn(words)), undefined, words],
    [
      'UTF-8, although the server declares Latin-1',
      Buffer.from(feedIn(words)),
      'text/xml; charset=iso-8859-1',
      words,
    ],
    ['UTF-8, although the file declares Latin-1', Buffer.from(feedIn(words, 'iso-8859-1')), undefined, words],
    [
      'windows-1251, declared by the server',
      iconv.encode(feedIn(russian), 'windows-1251'),
      'text/xml; charset="windows-1251"',
      russian,
    ],
    [
      'windows-1251, declared by the file',
      iconv.encode(feedIn(russian, 'windows-1251'), 'windows-1251'),
      undefined,
      russian,
    ],
    [
      'windows-1251 of the server, although the file declares another encoding',
      iconv.encode(feedIn(russian, 'koi8-r'), 'windows-1251'),
      'a/b; charset=windows-1251',
      russian,
    ],
    [
      'koi8-r of the file, although the server wrongly declares UTF-8',
      iconv.encode(feedIn(russian, 'koi8-r'), 'koi8-r'),
      'a/b; charset=utf-8',
      russian,
    ],
    ['ISO-2022-JP, declared by the file', japanese(feedIn('X', 'iso-2022-jp')), undefined, '日本'],
    ['ISO-2022-JP, declared by the server', japanese(feedIn('X')), 'a/b; charset=ISO-2022-JP', '日本'],
    [
      'UTF-8, although the file declares ISO-2022-JP',
      Buffer.from(feedIn(words, 'iso-2022-jp')),
      undefined,
      words,
    ],
    ['koi8-r without a declaration', iconv.encode(feedIn(russian), 'koi8-r'), undefined, russian],
    [
      'windows-1252, declared as Latin-1',
      iconv.encode(feedIn('“Lampe” – 5 €', 'iso-8859-1'), 'windows-1252'),
      undefined,
      '“Lampe” – 5 €',
    ],
    [
      'UTF-16 with a byte order mark',
      iconv.encode(feedIn(words, 'utf-16'), 'utf-16le', { addBOM: true }),
      'text/xml; charset=utf-8',
      words,
    ],
    ['UTF-16 without a byte order mark', iconv.encode(feedIn(words, 'utf-16'), 'utf-16be'), undefined, words],
    [
      'UTF-8, declared with an unknown name',
      Buffer.from(feedIn(words, 'x-lamp')),
      'a/b; charset=none',
      words,
    ],
  ])('are recognized: %s', (_, bytes, contentType, title) => {
    expect(titleOf(bytes, contentType)).toBe(title);
  });

  it('are recognized in a long text despite one broken byte', () => {
    const bytes = Buffer.from(feedIn(`${russian}#${russian}`));
    bytes[bytes.indexOf('#')] = 0xff;
    expect(titleOf(bytes, undefined)).toBe(`${russian}\ufffd${russian}`);
  });
});
