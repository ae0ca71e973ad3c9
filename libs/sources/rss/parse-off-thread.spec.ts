import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { SPEC_NOW } from '../testing/fake-upstream.js';
import { FEED_URL, rss, rssItems } from './testing/fixtures.js';
import { MAX_ENTRIES } from '../shared/shape.js';
import { parseOffThread } from './parse-off-thread.js';
import { answerOf, parseFeedAnswer } from './parse.js';

const origin = { feedUrl: FEED_URL, url: FEED_URL };
const good = rss(rssItems([{ n: 1, at: SPEC_NOW }]));
const parse = (text: string) => parseOffThread(Buffer.from(text), origin);
const repeated = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join('');

describe('a feed that is parsed in a separate thread', () => {
  it('has the same result as on this thread', async () => {
    expect(answerOf(await parse(good))).toEqual(parseFeedAnswer(Buffer.from(good), origin));
  });

  it('fails with the parser’s own reason', async () => {
    await expect(parse('<html>')).rejects.toMatchObject({
      name: 'UpstreamError',
      kind: 'not_parsable',
      message: 'rss answered HTML where a feed was expected',
    });
  });

  const dated = (n: number) =>
    `<item><guid>${n}</guid><title>${n}</title><pubDate>${new Date(n * 1000).toUTCString()}</pubDate></item>`;

  it('is read up to a limit, newest entries first, and a warning counts the others', async () => {
    const { items, warnings } = answerOf(await parse(rss(repeated(MAX_ENTRIES + 500, dated))));
    expect([items.length, items[0]?.title]).toEqual([MAX_ENTRIES, String(MAX_ENTRIES + 499)]);
    expect(warnings).toEqual([
      `rss: 500 of 10500 items left out: Earshot reads one answer only up to 10000 items`,
    ]);
  }, 60_000);

  it('fails if it takes too much time or memory, while this thread continues and other feeds are read', async () => {
    // This many attributes need more memory than a thread may take, even on a fast machine.
    const hostile = rss(`<item${repeated(3_000_000, (n) => ` a${n}="1"`)}><title>x</title></item>`);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const fault = await parse(hostile).catch((error: unknown) => error);
    delay.disable();
    expect(fault).toMatchObject({
      kind: 'too_large',
      message: expect.stringMatching(/takes more than \d+ (s|MB) to read/) as string,
    });
    expect(delay.max / 1e6).toBeLessThan(2_000);
    expect((await parse(good)).items.length).toBe(1);
  }, 60_000);

  it('does not count as too large because of earlier feeds of its thread, even if the first reading of the processor time failed', async () => {
    const read = fs.readFileSync;
    const stat = jest
      .fn(() => `1 (node) R ${'0 '.repeat(10)}1000000 0`)
      .mockImplementationOnce(() => {
        throw new Error('EMFILE: too many open files');
      });
    const replace = (other: typeof read) => {
      fs.readFileSync = other;
      syncBuiltinESMExports();
    };
    replace(((...args: Parameters<typeof read>) =>
      String(args[0]).startsWith('/proc/self/task/') ? stat() : read(...args)) as typeof read);
    try {
      expect((await parse(rss(repeated(MAX_ENTRIES, dated)))).items.length).toBe(MAX_ENTRIES);
    } finally {
      replace(read);
    }
    expect(process.platform !== 'linux' || stat.mock.calls.length > 1).toBe(true);
  }, 60_000);
});
