import { create } from '@bufbuild/protobuf';
import { CriteriaSchema } from '#contracts';
import type { DueSearch } from '../due/due-work.js';
import { NOTHING_LEARNED, type LaneMemory } from '../lanes/lane-memory.js';
import { Lane } from '../lanes/lane.js';
import { Upstream } from '../testing/polling-under-test.js';
import { planReads, type Answer } from './read-upstream.js';

const MINUTE = 60_000;
const START = Date.parse('2026-03-04T12:00:00.000Z');

/** A lane whose clock the spec sets, and searches that the spec reads. All searches have the same criteria. */
class Scene {
  readonly upstream = new Upstream();
  /** The time of the upstream. */
  realMs = START;
  /** How much our clock is ahead of the upstream's. */
  fastMs = 0;
  learned: LaneMemory[] = [];
  /** Called before the lane stores what it has learned. */
  store: () => void = () => {};
  /** The end of the period that the last completed read of each search has covered. */
  readonly covered = new Map<string, number>();
  /** All answers, in the order of the reads. */
  readonly answers: Answer[] = [];
  /** Called after a read has begun, before its request. */
  beforeRequest: () => void = () => {};
  /** The time of the read that stored the state of each search. */
  stateAt: number | undefined;
  /** Whether each search has a second watch, which has its first check. */
  hasFirstChecks = false;
  private readonly clock = { now: () => new Date(this.realMs + this.fastMs) };
  private lane: Lane;

  constructor(upstream: Partial<Upstream> = {}) {
    Object.assign(this.upstream, upstream);
    this.lane = this.newLane(NOTHING_LEARNED);
  }

  /** Moves the lane to another replica. */
  move(): void {
    const { feed } = this.learned.at(-1) ?? {};
    this.lane = this.newLane({ ...NOTHING_LEARNED, feed: feed && JSON.parse(JSON.stringify(feed)) });
  }

  private newLane(memory: LaneMemory): Lane {
    return new Lane({
      name: 'hackernews:0',
      connector: this.upstream.connector,
      baseUrl: undefined,
      http: this.upstream.http,
      lanes: 1,
      memory,
      clock: this.clock,
      remember: async (learned) => {
        this.store();
        this.learned.push(structuredClone(learned));
      },
    });
  }

  /** Shows items that were published at these minutes. Their ids are the minutes. */
  show(...minutes: number[]): void {
    for (const minute of minutes)
      this.upstream.publish(String(minute), 'acme', new Date(START + minute * MINUTE).toISOString());
  }

  /** Reads these searches at this minute of the upstream's time. @returns the answers by search */
  async read(minute: number, ...keys: string[]): Promise<Map<string, Answer>> {
    this.realMs = START + minute * MINUTE;
    const answers = new Map<string, Answer>();
    for (const planned of planReads(
      this.lane,
      keys.map((key) => this.due(key)),
      this.clock,
      async () => {
        this.beforeRequest();
        return () => false;
      },
    ))
      for (const answered of await planned.run(planned.searches))
        for (const [key, answer] of answered.answers) {
          answers.set(key, answer);
          this.answers.push(answer);
          if (answer.kind === 'read') this.covered.set(key, answer.readAt.getTime());
        }
    return answers;
  }

  private due(searchKey: string): DueSearch {
    const watch = {
      watchId: searchKey,
      searchKey,
      accountId: '',
      keywordId: '',
      searchId: '',
      intervalSeconds: 600,
      backfill: false,
      baselineAt: START - 60 * MINUTE,
      coveredUntil: this.covered.get(searchKey) ?? START,
      tick: this.realMs,
      checkSeq: 0,
    };
    return {
      searchKey,
      claim: '',
      source: 'hackernews',
      criteria: create(CriteriaSchema, { market: 'global', query: 'acme' }),
      match: 'word',
      state: this.stateAt === undefined ? {} : { history: 1, mark: 1 },
      stateAt: this.stateAt,
      failures: 0,
      minIntervalSeconds: 600,
      watches: this.hasFirstChecks ? [watch, { ...watch, coveredUntil: undefined }] : [watch],
    };
  }
}

/** @returns the minutes of the items, the newest first, or why the read failed */
const minutesOf = (answer: Answer | undefined) => {
  if (answer?.kind === 'failed') return answer.error.kind;
  return answer?.kind === 'read' ? answer.fetched.items.map(({ itemId }) => Number(itemId)) : answer?.kind;
};

/** @returns the minutes of the period that the read has covered */
const windowOf = (answer: Answer | undefined) =>
  answer?.kind === 'read'
    ? [answer.windowFrom, answer.readAt].map((at) => ((at?.getTime() ?? NaN) - START) / MINUTE)
    : answer?.kind;

describe('a read whose result cannot be stored', () => {
  it('fails with the error of the store, and does not count as a fault of the upstream', async () => {
    const scene = new Scene();
    const down = new Error('terminating connection');
    scene.store = () => {
      scene.store = () => {};
      throw down;
    };
    await expect(scene.read(10, 'a')).rejects.toBe(down);
    expect((await scene.read(11, 'a')).get('a')?.kind).toBe('read');
    expect(scene.learned.map(({ trouble }) => trouble)).toEqual(['']);
  });
});

describe('a feed that shows nothing new for some time', () => {
  /** The feed shows nothing from minute 9 to minute 60. Search a is read every ten minutes, search b at minute 30. */
  async function stalled(): Promise<Scene> {
    const scene = new Scene({ hasFeed: true, quietSeconds: 3_600 });
    scene.show(-1);
    await scene.read(0, 'a', 'b');
    scene.show(9);
    for (const minute of [10, 20, 30, 40, 50]) await scene.read(minute, 'a', ...(minute === 30 ? ['b'] : []));
    scene.show(12, 35, 59);
    return scene;
  }

  it('is later read back to the newest item that it showed before, once for each search', async () => {
    const scene = await stalled();
    expect(minutesOf((await scene.read(60, 'a')).get('a'))).toEqual([59, 35, 12, 9]);
    expect(minutesOf((await scene.read(70, 'a')).get('a'))).toEqual([59]);
    expect(minutesOf((await scene.read(90, 'b')).get('b'))).toEqual([59, 35, 12, 9]);
    expect(minutesOf((await scene.read(100, 'b')).get('b'))).toEqual([59]);
  });

  it('is read back to the last item that it showed, even after the lane has moved, also by a separate search', async () => {
    const scene = await stalled();
    scene.move();
    expect(minutesOf((await scene.read(60, 'a')).get('a'))).toEqual([59, 35, 12, 9]);
    scene.move();
    scene.upstream.feedPages = Infinity;
    expect(minutesOf((await scene.read(90, 'b')).get('b'))).toEqual([59, 35, 12, 9]);
  });

  it('is read back to the last item that it showed, even after it counted as frozen', async () => {
    const scene = new Scene({ hasFeed: true, quietSeconds: 1_200 });
    scene.show(9);
    for (const minute of [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]) await scene.read(minute, 'a');
    expect(minutesOf((await scene.read(32, 'a')).get('a'))).toBe('frozen');
    scene.show(13, 25, 50);
    // The first read only tests the feed.
    expect((await scene.read(51, 'a')).size).toBe(0);
    expect(minutesOf((await scene.read(52, 'a')).get('a'))).toEqual([50, 25, 13, 9]);
  });

  it('no longer counts as frozen when it shows old items that it hid before', async () => {
    const scene = new Scene({ hasFeed: true, quietSeconds: 1_200 });
    scene.show(9);
    for (let minute = 10; minute <= 32; minute += 2) await scene.read(minute, 'a');
    scene.show(13);
    expect((await scene.read(60, 'a')).size).toBe(0);
    expect(minutesOf((await scene.read(61, 'a')).get('a'))).toEqual([13, 9]);
  });

  it('loses no item if it always shows items half an hour late', async () => {
    const scene = new Scene({ hasFeed: true, quietSeconds: 3_600 });
    const found = new Set<number>();
    scene.show(0);
    for (let minute = 1; minute <= 200; minute += 1) {
      if (minute > 30) scene.show(minute - 30);
      if (minute % 7 > 0) continue;
      const minutes = minutesOf((await scene.read(minute, 'a')).get('a'));
      for (const one of minutes as number[]) found.add(one);
    }
    expect(found.size).toBe(196 - 30 + 1);
  });

  it('is read with windows of the usual length if it shows new items at each read', async () => {
    const scene = new Scene({ hasFeed: true, quietSeconds: 3_600 });
    for (const minute of [10, 20, 30]) {
      scene.show(minute - 1);
      expect(windowOf((await scene.read(minute, 'a')).get('a'))).toEqual([minute - 15, minute]);
    }
  });
});

describe('a read with a wrong clock', () => {
  it.each([12, 60])(
    'finds each item if our clock is %i minutes fast, then right, then fast',
    async (fast) => {
      const scene = new Scene();
      scene.upstream.date = () => new Date(scene.realMs);
      const found = new Set<number>();
      for (let minute = 10; minute <= 90; minute += 10) {
        scene.fastMs = minute > 30 && minute <= 60 ? 0 : fast * MINUTE;
        scene.show(minute - 8, minute - 1);
        const answers = await scene.read(minute, 'a', ...(minute % 20 === 0 ? ['b'] : []));
        for (const one of minutesOf(answers.get('a')) as number[]) found.add(one);
      }
      expect(found.size).toBe(18);
    },
  );

  it('has a window that ends at our time if our clock dates the items of the source', async () => {
    const scene = new Scene({ datesByOurClock: true });
    scene.fastMs = 60 * MINUTE;
    scene.upstream.date = () => new Date(scene.realMs);
    expect(windowOf((await scene.read(10, 'a')).get('a'))).toEqual([-5, 70]);
    expect(windowOf((await scene.read(20, 'a')).get('a'))).toEqual([65, 80]);
  });

  it('uses the feed as if our clock were right, although our clock is hours fast', async () => {
    const scene = new Scene({ hasFeed: true });
    const seconds: number[] = [];
    scene.upstream.pagesFor = (windowSeconds) => (seconds.push(windowSeconds), Infinity);
    scene.upstream.date = () => new Date(scene.realMs);
    scene.fastMs = 12 * 60 * MINUTE;
    for (const minute of [10, 20, 30]) await scene.read(minute, 'a');
    expect(seconds.slice(1)).toEqual([900, 900]);
  });

  it.each(['before', 'during'] as const)(
    'has a window that ends at the time of the upstream if our clock was set right %s the request',
    async (when) => {
      const scene = new Scene();
      const setRight = () => (scene.fastMs = 0);
      if (when === 'before') scene.beforeRequest = setRight;
      scene.upstream.date = () => {
        setRight();
        return new Date(scene.realMs);
      };
      scene.fastMs = 60 * MINUTE;
      const [from, to] = windowOf((await scene.read(10, 'a')).get('a')) as number[];
      expect([from, Math.round(to ?? NaN)]).toEqual([-5, 10]);
    },
  );

  it('has a window that ends at our time if the upstream’s clock is ahead or unknown', async () => {
    const scene = new Scene();
    scene.fastMs = -3 * MINUTE;
    scene.upstream.date = () => new Date(scene.realMs);
    expect(windowOf((await scene.read(10, 'a')).get('a'))).toEqual([-5, 7]);
    scene.upstream.date = undefined;
    expect(windowOf((await scene.read(20, 'a')).get('a'))).toEqual([2, 17]);
  });

  it('has a window that begins before our time if our clock was set back', async () => {
    const scene = new Scene();
    scene.fastMs = 60 * MINUTE;
    await scene.read(10, 'a');
    scene.fastMs = 0;
    expect(windowOf((await scene.read(20, 'a')).get('a'))).toEqual([15, 20]);
  });

  it('has a window with the same end for first checks and for the other watches of a search', async () => {
    const scene = new Scene();
    scene.hasFirstChecks = true;
    scene.fastMs = 12 * MINUTE;
    let responses = 0;
    scene.upstream.date = () => new Date(scene.realMs + (responses += 1) * 1000);
    await scene.read(10, 'a');
    const ends = scene.answers.map((answer) => answer.kind === 'read' && answer.readAt.getTime());
    expect([ends.length, new Set(ends).size]).toEqual([2, 1]);
  });
});

describe('the state of a search', () => {
  it('is returned only to watches that the last read has served, also after our clock was set back', async () => {
    const scene = new Scene();
    scene.stateAt = START;
    scene.covered.set('a', START + 60 * MINUTE);
    await scene.read(70, 'a');
    scene.covered.set('a', START);
    await scene.read(80, 'a');
    expect(scene.upstream.states).toEqual([{ history: 1 }, { history: 1, mark: 1 }]);
  });
});
