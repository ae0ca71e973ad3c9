import { unescaped, unescapedOffsetsIn } from './escaped-text.js';

describe('text that was escaped for HTML', () => {
  it.each([
    ['Lamps &amp; lights', 'Lamps & lights'],
    ['1 &lt; 2 &gt; 0', '1 < 2 > 0'],
    ['Ada&#39;s &quot;lamp&quot; &#x1F4A1;', 'Ada\'s "lamp" 💡'],
    ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
    ['AT&T &copy; &#0; &#xd800; &', 'AT&T &copy; &#0; &#xd800; &'],
  ])('%s becomes %s', (text, plain) => {
    expect(unescaped(text)).toBe(plain);
  });

  it.each([
    ['A &amp; B https://t.co/x', [10, 24], 'https://t.co/x'],
    ['💡 &lt;3 &amp;&amp; #lamp', [19, 24], '#lamp'],
    ['#lamp &amp; light', [0, 5], '#lamp'],
    ['nothing to undo', [8, 10], 'to'],
  ])('keeps the offsets of "%s" at the same words', (text, offsets, expected) => {
    const [start, end] = offsets.map(unescapedOffsetsIn(text));
    expect([...unescaped(text)].slice(start, end).join('')).toBe(expected);
  });

  it('moves an offset inside an escape to the end of the character', () => {
    expect([1, 2, 3, 6, 7].map(unescapedOffsetsIn('a&amp;b'))).toEqual([1, 2, 2, 2, 3]);
  });
});
