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

/** Returns the `stat` file of a thread that has used this much processor time. */
const statWith = (ticks: number) => `1 (node) R ${'0 '.repeat(10)}${ticks} 0`;

/** Runs `work` while `stat` replaces the `stat` files of threads. */
async function withThreadTimes<T>(stat: () => string, work: () => Promise<T>): Promise<T> {
  const read = fs.readFileSync;
  const replace = (other: typeof read) => {
    fs.readFileSync = other;
    syncBuiltinESMExports();
  };
  replace(((...args: Parameters<typeof read>) =>
    String(args[0]).startsWith('/proc/self/task/') ? stat() : read(...args)) as typeof read);
  try {
    return await work();
  } finally {
    replace(read);
  }
}

describe('a feed that is parsed in a separate thread', () => {
  it('gives the same result as a feed that is parsed without a separate thread', async () => {
    expect(answerOf(await parse(good))).toEqual(parseFeedAnswer(Buffer.from(good), origin));
  });

  it('fails with the reason that the parser gives', async () => {
    await expect(parse('<html>')).rejects.toMatchObject({
      name: 'UpstreamError',
      kind: 'not_parsable',
      message: 'rss answered HTML where a feed was expected',
    });
  });

  const dated = (n: number) =>
    `<item><guid>${n}</guid><title>${n}</title><pubDate>${new Date(SPEC_NOW.getTime() + n * 1000).toUTCString()}</pubDate></item>`;

  it('is read only up to the newest 10,000 entries, and a warning counts the others', async () => {
    const { items, warnings } = answerOf(await parse(rss(repeated(MAX_ENTRIES + 500, dated))));
    expect([items.length, items[0]?.title]).toEqual([MAX_ENTRIES, String(MAX_ENTRIES + 499)]);
    expect(warnings).toEqual([
      `rss: 500 of 10500 items left out: Earshot reads at most 10000 items of one answer`,
    ]);
  }, 60_000);

  it('fails if it takes too much processor time, but does not block its caller or the next feed', async () => {
    const slow = rss(`<item${repeated(490_000, (n) => ` a${n}="1"`)}><title>x</title></item>`);
    let ticks = 0;
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    // Each read of the file shows one more second of processor time, so that the limit is reached on each machine.
    const fault = await withThreadTimes(
      () => statWith((ticks += 100)),
      () => parse(slow).catch((error: unknown) => error),
    );
    delay.disable();
    expect(fault).toMatchObject({
      kind: 'too_large',
      message: 'rss answered a feed that takes more than 10 s to read',
    });
    expect(delay.max / 1e6).toBeLessThan(2_000);
    expect((await parse(good)).items.length).toBe(1);
  }, 60_000);

  it.each([
    ['elements', rss(`<item>${repeated(1_300_000, (n) => `<a${n.toString(36)}/>`)}</item>`)],
    ['attributes', rss(`<item${repeated(1_300_000, (n) => ` a${n.toString(36)}=""`)}/>`)],
    ['JSON values', `{"version":"https://jsonfeed.org/version/1.1","items":[${'{},'.repeat(1_300_000)}{}]}`],
  ])(
    'fails if it has too many %s, because these could end the whole process',
    async (_, text) => {
      await expect(parse(text)).rejects.toMatchObject({
        kind: 'too_large',
        message: 'rss answered a feed with more than 500000 tags, attributes or values',
      });
    },
    60_000,
  );

  it('is not refused for the processor time of earlier feeds, even if the first measurement failed', async () => {
    const stat = jest
      .fn(() => statWith(1_000_000))
      .mockImplementationOnce(() => {
        throw new Error('EMFILE: too many open files');
      });
    const { items } = await withThreadTimes(stat, () => parse(rss(repeated(MAX_ENTRIES, dated))));
    expect(items.length).toBe(MAX_ENTRIES);
    expect(process.platform !== 'linux' || stat.mock.calls.length > 1).toBe(true);
  }, 60_000);
});
