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

  it.each([
    ['UTF-8, said by nobody', Buffer.from(feedIn(words)), undefined, words],
    [
      'UTF-8, though the server says Latin-1',
      Buffer.from(feedIn(words)),
      'text/xml; charset=iso-8859-1',
      words,
    ],
    ['UTF-8, though the file says Latin-1', Buffer.from(feedIn(words, 'iso-8859-1')), undefined, words],
    [
      'windows-1251 by the server',
      iconv.encode(feedIn(russian), 'windows-1251'),
      'text/xml; charset="windows-1251"',
      russian,
    ],
    [
      'windows-1251 by the file',
      iconv.encode(feedIn(russian, 'windows-1251'), 'windows-1251'),
      undefined,
      russian,
    ],
    [
      'the server before the file',
      iconv.encode(feedIn(russian, 'koi8-r'), 'windows-1251'),
      'a/b; charset=windows-1251',
      russian,
    ],
    [
      'the file, where the server says UTF-8 and is wrong',
      iconv.encode(feedIn(russian, 'koi8-r'), 'koi8-r'),
      'a/b; charset=utf-8',
      russian,
    ],
    ['koi8-r, said by nobody', iconv.encode(feedIn(russian), 'koi8-r'), undefined, russian],
    [
      'windows-1252 where Latin-1 is said',
      iconv.encode(feedIn('“Lampe” – 5 €', 'iso-8859-1'), 'windows-1252'),
      undefined,
      '“Lampe” – 5 €',
    ],
    [
      'UTF-16 with a mark',
      iconv.encode(feedIn(words, 'utf-16'), 'utf-16le', { addBOM: true }),
      'text/xml; charset=utf-8',
      words,
    ],
    ['UTF-16 without', iconv.encode(feedIn(words, 'utf-16'), 'utf-16be'), undefined, words],
    ['an unknown name', Buffer.from(feedIn(words, 'x-lamp')), 'a/b; charset=none', words],
  ])('%s', (_, bytes, contentType, title) => {
    expect(titleOf(bytes, contentType)).toBe(title);
  });

  it('one broken byte does not turn a long text into another encoding', () => {
    const bytes = Buffer.from(feedIn(`${russian}#${russian}`));
    bytes[bytes.indexOf('#')] = 0xff;
    expect(titleOf(bytes, undefined)).toBe(`${russian}\ufffd${russian}`);
  });
});
