import { ManualClock } from '../testing/simulator-client.js';
import { SIMULATED_SOURCES } from '../sources/index.js';
import { World } from './world.js';

const options = { seed: 3, ratePerSecond: 2, historyPosts: 50, historyHours: 10 };

function plain(world: World): unknown {
  return SIMULATED_SOURCES.map((source) =>
    world
      .posts(source)
      .map(({ id, text, title, publishedAt, author, parent }) => [
        id,
        text,
        title,
        publishedAt,
        author,
        parent?.id,
      ]),
  );
}

describe('the world', () => {
  it('has the same posts for the same seed, start and time, and other posts for another seed', () => {
    const [one, two] = [new ManualClock(), new ManualClock()];
    const [often, once] = [new World({ ...options, clock: one }), new World({ ...options, clock: two })];
    for (let i = 0; i < 30; i++) {
      one.pass(1);
      plain(often);
    }
    two.pass(30);
    expect(plain(often)).toEqual(plain(once));
    expect(plain(new World({ ...options, clock: two, seed: 4 }))).not.toEqual(plain(once));
  });

  it('adds posts at the given rate, in order of time, each with a unique id', () => {
    const clock = new ManualClock();
    const world = new World({ ...options, clock });
    expect(world.posts('rss').length).toBe(50);
    clock.pass(100);
    for (const source of SIMULATED_SOURCES) {
      const posts = world.posts(source);
      expect(Math.abs(posts.length - 250)).toBeLessThan(12);
      expect(new Set(posts.map(({ id }) => id)).size).toBe(posts.length);
      expect(posts.every((post, i) => i === 0 || posts[i - 1]!.publishedAt <= post.publishedAt)).toBe(true);
      expect(posts.every((post) => world.find(source, post.id) === post)).toBe(true);
    }
  });

  it('has other ids if it starts half an hour later', () => {
    const early = new World({ ...options, clock: new ManualClock() });
    const later = new World({ ...options, clock: new ManualClock(Date.parse('2026-03-01T12:30:00Z')) });
    const ids = new Set(early.posts('reddit').map(({ id }) => id));
    expect(later.posts('reddit').some(({ id }) => ids.has(id))).toBe(false);
  });
});
