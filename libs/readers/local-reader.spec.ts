import { readerInThreads, startLocalReader } from './local-reader.js';
import type { LocalReader } from './reading.js';
import { requestOf } from './testing/requests.js';

describe('the local reader', () => {
  let reader: LocalReader;
  beforeAll(() => (reader = startLocalReader({ workers: 1 })));
  afterAll(() => reader.close());

  it('reads the language of each item, and its sentiment and intent if `analysis` is true, in order', async () => {
    const readings = await reader.read([
      requestOf('I love Acme, it is the best tool that we have ever used.'),
      requestOf('Leaving Acme for Globex today, cancelled our subscription.'),
      { ...requestOf('Mir gefällt das neue Fahrrad von Acme überhaupt nicht'), analysis: false },
    ]);
    expect(readings).toMatchObject([
      { lang: 'en', sentiment: 'positive', intent: 'praise' },
      { lang: 'en', sentiment: 'negative', intent: 'churn_risk' },
      { lang: 'de' },
    ]);
    expect(readings[2]).not.toHaveProperty('sentiment');
  });

  it('returns the embedding if it is requested', async () => {
    const [plain, embedded] = await reader.read([
      { ...requestOf('hello from Acme'), analysis: false },
      { ...requestOf('hello from Acme'), analysis: false, embed: true },
    ]);
    expect([plain?.embedding, embedded?.embedding?.length]).toEqual([undefined, 256]);
  });

  it('returns an empty list for no items', async () => {
    expect(await reader.read([])).toEqual([]);
  });

  it('reads hostile texts in bounded time, and does not block its caller', async () => {
    const size = 64 * 1024;
    const hostile = [
      'a'.repeat(size),
      '('.repeat(size),
      'want '.repeat(size / 5),
      '§ '.repeat(size / 2),
      'acme '.repeat(size / 5),
      '@a'.repeat(size / 2),
      'http://'.repeat(size / 7),
      '\u200b'.repeat(size),
      '\u202e\ud800constructor __proto__ '.repeat(size / 25),
      'ﷺ'.repeat(size),
      'not '.repeat(size / 4),
      `${'.'.repeat(size)}?`,
      `${'i am going to '.repeat(size / 14)}buy`,
      '!?'.repeat(size / 2),
      "can't ".repeat(size / 6),
      'e\u0301\u0323'.repeat(size / 3),
    ];
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const requests = hostile.map((text) =>
      requestOf(text, { names: ['acme', 'a', '(', text.slice(0, 5_000)], about: text }),
    );
    const readings = await reader.read(requests);
    clearInterval(timer);
    expect(readings.length).toBe(hostile.length);
    expect(ticks).toBeGreaterThan(0);
  });

  it('reads an item even if its keyword has half a million names', async () => {
    const names = Array.from({ length: 500_000 }, (_, n) => `name ${n}`);
    const [reading] = await reader.read([
      requestOf('I love name 3 and name 400000', { names, about: 'a '.repeat(500_000) }),
    ]);
    expect(reading).toMatchObject({ lang: 'en', sentiment: 'positive' });
  });
});

describe('a thread of the local reader', () => {
  const fault = async (text: string, taskMs: number) => {
    const reader = readerInThreads(new URL('./testing/faulty-worker.js', import.meta.url), {
      workers: 1,
      taskMs,
    });
    const failed = reader.read([requestOf(text)]).catch((error: unknown) => error);
    const others = await Promise.all([reader.read([requestOf('hello')]), reader.read([requestOf('hello')])]);
    const outcome = await failed;
    await reader.close();
    expect(others.flat().map(({ reason }) => reason)).toEqual(['answered', 'answered']);
    return outcome;
  };

  it('fails only its own call, with the reason, if it throws an error', async () => {
    expect(await fault('throw', 15_000)).toMatchObject({ message: 'the local reader failed: no weights' });
  });

  it('is terminated if it takes too long, and other calls are answered', async () => {
    expect(await fault('hang', 2_000)).toMatchObject({
      message: 'the local reader failed: takes more than 2 s for 1 items',
    });
  });

  it('finishes its task before it ends', async () => {
    const module = new URL('./testing/faulty-worker.js', import.meta.url);
    const reader = readerInThreads(module, { workers: 1, taskMs: 15_000 });
    await reader.read([requestOf('hello')]);
    const last = reader.read([requestOf('slow')]);
    await reader.close();
    expect((await last).map(({ reason }) => reason)).toEqual(['answered']);
  });
});
