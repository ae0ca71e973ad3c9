import { spawn, type ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { SPEC_NOW } from '../testing/fake-upstream.js';
import { FEED_URL, rss, rssItems } from './testing/fixtures.js';
import { parseOffThread } from './parse-off-thread.js';

describe('a feed on a machine without a free processor', () => {
  let busy: ChildProcess[] = [];
  beforeAll(() => {
    // The processes end by themselves, even if this process is killed.
    const loop = 'const end = Date.now() + 60_000; while (Date.now() < end);';
    busy = Array.from({ length: availableParallelism() * 4 }, () => spawn(process.execPath, ['-e', loop]));
  });
  afterAll(() => busy.forEach((child) => child.kill()));

  it('is not refused as too large if its thread runs slowly', async () => {
    const text = rss(rssItems(Array.from({ length: 500 }, (_, n) => ({ n, at: SPEC_NOW }))));
    const origin = { feedUrl: FEED_URL, url: FEED_URL };
    for (let read = 0; read < 2; read += 1)
      expect((await parseOffThread(Buffer.from(text), origin)).items).toHaveLength(500);
  }, 120_000);
});
