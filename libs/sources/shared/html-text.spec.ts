import { htmlToLine, htmlToText } from './html-text.js';

describe('HTML as text', () => {
  it.each([
    ['plain words are unchanged', 'a < b & c', 'a < b & c'],
    ['paragraphs are separated by an empty line', 'one<p>two</p><p>three', 'one\n\ntwo\n\nthree'],
    ['line breaks are kept', 'one<br>two<br/>three', 'one\ntwo\nthree'],
    ['entities are decoded once', '&quot;&#x27;&amp;lt;&#8364;&hellip;', '"\'&lt;€…'],
    ['markup inside words is removed', 'Ear<b>shot</b>', 'Earshot'],
    [
      'scripts, styles and images are removed',
      'a<script>alert(1)</script><style>b{}</style><img src="x" alt="y">b',
      'ab',
    ],
    ['links show their words', 'see <a href="https://x.example/y">the page</a>', 'see the page'],
    [
      'shortened links show the whole address',
      '<a href="https:&#x2F;&#x2F;x.example&#x2F;a&#x2F;long&#x2F;path">https:&#x2F;&#x2F;x.example&#x2F;a&#x2F;lo...</a>',
      'https://x.example/a/long/path',
    ],
    ['headings keep their case', '<h1>Tea at Five</h1>now', 'Tea at Five\n\nnow'],
    ['entries of lists have marks', '<ul><li>one</li><li>two</li></ul>', '* one\n * two'],
    ['cells of a table are on separate lines', '<table><tr><td>a</td><td>b</td></tr></table>', 'a\nb'],
    ['code keeps its lines', '<pre><code>a\n  b</code></pre>', 'a\n  b'],
    ['several empty lines become one', '<p>a</p><p></p><div></div><p>b</p>', 'a\n\nb'],
    ['characters that stores refuse are removed', 'a\u0000b\ud800c', 'abc'],
    ['empty text stays empty', '', ''],
    ['tags that never end are removed', 'a <b', 'a'],
  ])('is converted so that %s', (_, html, text) => {
    expect(htmlToText(html)).toBe(text);
  });

  it('is empty, without an error, if the HTML is nested extremely deeply', () => {
    expect(htmlToText(`${'<div>'.repeat(100_000)}x`)).toBe('');
  });

  it('is cut off after 10,000 tags, because many open tags would block the process', () => {
    expect(htmlToText('<b>a</b>'.repeat(20_000))).toBe('a'.repeat(5_000));
    expect(htmlToText(`${'<b>a</b>'.repeat(5_000)}&amp;`)).toBe(`${'a'.repeat(5_000)}&`);
    expect(htmlToText(`${'<h1>a'.repeat(200)}${'<h1>'.repeat(50_000)}`)).not.toBe('');
  });

  it('is converted in one pass if it has a long run of spaces inside a line', () => {
    const text = `a${'\u00a0'.repeat(5_000_000)}b`;
    expect(htmlToText(text)).toBe(text);
  });

  it('adds the addresses of links on request', () => {
    const html =
      '<a href="https://x.example/y">the page</a>, <a href="/r/z">r/z</a>, <a href="http://q.example">http://q.example</a>';
    expect(htmlToText(html, { addresses: true })).toBe(
      'the page (https://x.example/y), r/z, http://q.example',
    );
  });

  it('is one line for titles', () => {
    expect(htmlToLine('<b>Earshot</b>\n&amp; friends<br> now ')).toBe('Earshot & friends now');
  });
});
