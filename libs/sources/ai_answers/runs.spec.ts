import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { Fetched } from '../source.js';
import type { Engine } from './answer.js';
import { aiAnswersSettings, createAiAnswersConnector } from './index.js';
import { engines, type GivenAnswer } from './testing/fixtures.js';

const START = Date.parse('2026-03-04T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(START + hours * HOUR_MS);
const ACME: readonly [string, string] = ['https://acme.com/', 'Lamps'];

/**
 * Returns a search that is read several times. Between reads its state is converted to JSON and back, like in polling.
 */
function search(names: Engine[] = ['openai']) {
  let state: Record<string, unknown> = {};
  const read = async (
    hours: number,
    since: number | undefined,
    answers: Parameters<typeof engines>[0] = {},
    configured = names,
  ): Promise<Fetched> => {
    const env = Object.fromEntries(configured.map((name) => [`AI_${name.toUpperCase()}_TOKEN`, 'k']));
    const connector = createAiAnswersConnector(aiAnswersSettings(env));
    const upstream = fakeUpstream('ai_answers', engines(answers));
    const given = structuredClone(state);
    const context = fakeContext(upstream.http, {
      state: given,
      now: at(hours),
      since: since === undefined ? undefined : at(since),
    });
    const criteria = criteriaOf({ filters: { prompt: 'Which lamp?', brands: ['Acme', 'Byron'] } });
    const fetched = await connector.search(criteria, context);
    state = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
    return fetched;
  };
  return {
    read,
    get state() {
      return state;
    },
    forget: (before: Record<string, unknown>) => (state = before),
  };
}

const answerOf = (text: string, cites: GivenAnswer['cites'] = []) => ({ openai: { text, cites } });
const types = ({ items }: Fetched) => items.map(({ eventType }) => eventType);
const bodies = ({ items }: Fetched) =>
  items.map(({ bodyJson }) => JSON.parse(bodyJson) as { brand: string | null; [key: string]: unknown });

describe('several runs of a search:', () => {
  it('the first answer is reported as created, without a previous answer', async () => {
    const { read } = search();
    const first = await read(0, undefined, answerOf('Acme.'));
    expect(types(first)).toEqual(['answer.created']);
    expect(bodies(first)[0]).toMatchObject({ previous: null, brand: null });
  });

  it('an answer with other words but the same brands is not a change, but is recorded as an observation', async () => {
    const { read } = search();
    await read(0, undefined, answerOf('Acme makes lamps.'));
    const second = await read(24, 0, answerOf('Lamps? Take those of Acme, say I.'));
    expect([second.items, second.observations?.length, second.units]).toEqual([[], 1, 1]);
  });

  it('an answer that mentions other brands is a change, and contains the previous run', async () => {
    const { read } = search();
    await read(0, undefined, answerOf('Acme.'));
    const second = await read(24, 0, answerOf('Byron.'));
    expect(types(second)).toEqual(['answer.changed']);
    expect(bodies(second)[0]).toMatchObject({
      brand: null,
      answeredAt: '2026-03-05T12:00:00.000Z',
      brands: [
        { brand: 'Acme', mentioned: false, cited: false, position: null },
        { brand: 'Byron', mentioned: true, cited: false, position: 0 },
      ],
      previous: {
        answeredAt: '2026-03-04T12:00:00.000Z',
        brands: [
          { brand: 'Acme', mentioned: true, cited: false, position: 0 },
          { brand: 'Byron', mentioned: false, cited: false, position: null },
        ],
      },
    });
  });

  it('a newly cited brand and a brand that is no longer cited are reported by name, before the changed answer', async () => {
    const { read } = search();
    await read(0, undefined, answerOf('Acme.', [ACME]));
    const second = await read(24, 0, answerOf('Acme.', [['https://byron.example/', '']]));
    expect(types(second)).toEqual(['term.cited', 'term.uncited', 'answer.changed']);
    expect(bodies(second).map(({ brand }) => brand)).toEqual(['Byron', 'Acme', null]);
    const [, uncited, changed] = bodies(second);
    expect(Object.keys(uncited ?? {}).sort()).toEqual(Object.keys(changed ?? {}).sort());
    expect({ ...uncited, id: null, brand: null }).toEqual({ ...changed, id: null });
  });

  it('the next answer of an engine that failed is compared with the last answer of this engine', async () => {
    const { read } = search(['openai', 'perplexity']);
    await read(0, undefined, answerOf('Acme.'));
    const second = await read(24, 0, { openai: { fails: { status: 500 } } });
    expect([types(second), second.units]).toEqual([[], 1]);
    expect(types(await read(48, 24, answerOf('Acme again.')))).toEqual([]);
    expect(types(await read(72, 48, answerOf('Byron.')))).toEqual(['answer.changed']);
  });

  it('the first answer of an engine that was added later is reported as created', async () => {
    const { read } = search(['openai']);
    await read(0, undefined, answerOf('Acme.'));
    const second = await read(24, 0, answerOf('Acme.'), ['openai', 'gemini']);
    expect(second.items.map(({ itemId }) => itemId)).toEqual(['gemini:answer.created']);
    expect(bodies(second)[0]).toMatchObject({ engine: 'gemini', previous: null });
  });

  it('a new watch begins with the current answers, without past changes', async () => {
    const { read } = search();
    await read(0, undefined, answerOf('Acme.'));
    await read(24, 0, answerOf('Byron.'));
    const joined = await read(48, undefined, answerOf('Acme.'));
    expect(joined.items.map(({ itemId }) => itemId)).toEqual(['openai:answer.created']);
    expect(bodies(joined)[0]).toMatchObject({ previous: null, answeredAt: '2026-03-06T12:00:00.000Z' });
  });

  it('a watch with a longer interval gets all changes since its last read, the latest first', async () => {
    const { read } = search();
    await read(0, undefined, answerOf('Acme.'));
    const onTime = [await read(24, 0, answerOf('Byron.')), await read(48, 24, answerOf('Acme.', [ACME]))];
    const late = await read(72, 0, answerOf('Acme, Byron.', [ACME]));
    expect(types(late)).toEqual(['answer.changed', 'term.cited', 'answer.changed', 'answer.changed']);
    expect(late.items.slice(1).map(({ itemId }) => itemId)).toEqual(
      onTime.reverse().flatMap(({ items }) => items.map(({ itemId }) => itemId)),
    );
    expect(late.gap).toBe(false);
  });
});

describe('the ids of changes', () => {
  it('are the same if the run is repeated because its state was lost', async () => {
    const one = search();
    await one.read(0, undefined, answerOf('Acme.'));
    const before = structuredClone(one.state);
    const first = await one.read(24, 0, answerOf('Byron.', [ACME]));
    one.forget(before);
    const again = await one.read(25, 0, answerOf('Then take Byron!', [ACME]));
    expect(again.items.map(({ itemId }) => itemId)).toEqual(first.items.map(({ itemId }) => itemId));
  });

  it('differ if the repeated run finds another change', async () => {
    const one = search();
    await one.read(0, undefined, answerOf('Acme.'));
    const before = structuredClone(one.state);
    const first = await one.read(24, 0, answerOf('Byron.'));
    one.forget(before);
    const again = await one.read(25, 0, answerOf('Acme and Byron.'));
    expect(again.items[0]?.itemId).not.toBe(first.items[0]?.itemId);
  });

  it('are different each time the brands of the answer change back', async () => {
    const { read } = search();
    await read(0, undefined, answerOf('Acme.'));
    const ids: string[] = [];
    for (let day = 1; day <= 4; day += 1) {
      const { items } = await read(day * 24, (day - 1) * 24, answerOf(day % 2 === 0 ? 'Acme.' : 'Byron.'));
      ids.push(...items.map(({ itemId }) => itemId));
    }
    expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
  });
});

describe('the stored state of a search of ai_answers', () => {
  it('consists only of the history', async () => {
    const one = search();
    await one.read(0, undefined, answerOf('Acme.'));
    expect(Object.keys(one.state)).toEqual(['history']);
  });

  it('contains at most ten changes of each engine, and a watch that needs older changes gets a gap', async () => {
    const one = search(['openai', 'perplexity']);
    await one.read(0, undefined, answerOf('Acme.'));
    for (let hour = 1; hour <= 30; hour += 1)
      await one.read(hour, hour - 1, answerOf(hour % 2 === 0 ? 'Acme.' : 'Byron.', [ACME]));
    expect(JSON.stringify(one.state).length).toBeLessThan(20_000);
    const recent = await one.read(31, 20, answerOf('Acme.', [ACME]));
    expect([recent.items.length, recent.gap]).toEqual([10, false]);
    const late = await one.read(32, 0, answerOf('Acme.', [ACME]));
    expect([late.items.length, late.gap]).toEqual([10, true]);
  });

  it('contains no changes older than 31 days', async () => {
    const one = search();
    await one.read(0, undefined, answerOf('Acme.'));
    await one.read(24, 0, answerOf('Byron.'));
    expect((await one.read(30 * 24, 0, answerOf('Byron.'))).items.length).toBe(1);
    const late = await one.read(33 * 24, 0, answerOf('Byron.'));
    expect([late.items, late.gap]).toEqual([[], true]);
    expect(types(await one.read(34 * 24, 33 * 24, answerOf('Acme.')))).toEqual(['answer.changed']);
  });

  it('is replaced by an empty history if it cannot be read', async () => {
    const one = search();
    one.forget({ history: { v: 0, engines: { openai: {} } } });
    expect(types(await one.read(24, 0, answerOf('Acme.')))).toEqual(['answer.created']);
  });
});
