import { toBinary } from '@bufbuild/protobuf';
import { EventSchema } from '#contracts';
import { newId } from '#kernel';
import { until } from '#testing';
import { nextDue } from '../domain/digest-times.js';
import { EventsProgress } from '../projection-progress.js';
import { digestItemsProjection } from '../projections/digest-items.projection.js';
import { DigestsUnderTest, NOW, ZONE, type DigestScene } from '../testing/digests-under-test.js';
import type { DigestAssembly } from './digest-assembly.js';
import { claimDueTurns } from './digest-turns.js';
import { DigestsLoop } from './digests.loop.js';

const ELEVEN = nextDue('hourly', ZONE, NOW);
const NINE = nextDue('daily', ZONE, ELEVEN);
const CLAIM_MS = 120_000;

let fixture: DigestsUnderTest;

beforeAll(async () => {
  fixture = await DigestsUnderTest.open();
});
afterAll(() => fixture?.close());

type Assemble = DigestAssembly['assemble'];

/** A replica that also does what a test wants, before or after it assembles digests. */
function replicaWith(around: (assemble: Assemble) => Assemble): DigestsLoop {
  const assembly = fixture.assembly();
  const changed = { assemble: around(assembly.assemble.bind(assembly)) } as DigestAssembly;
  return new DigestsLoop(fixture.database, new EventsProgress(fixture.bus), changed, fixture.log);
}

async function totals(scene: DigestScene): Promise<{ hourly: number[]; daily: number[] }> {
  const of = async (mode: 'hourly' | 'daily') => (await scene.digests(mode)).map(({ total }) => total);
  return { hourly: await of('hourly'), daily: await of('daily') };
}

async function stored(scene: DigestScene, count = 1): Promise<void> {
  await until('the items are stored', async () => {
    const rows: unknown[] = await fixture.database.query('SELECT 1 FROM digest_items WHERE keyword_id = $1', [
      scene.keywordId,
    ]);
    return rows.length === count;
  });
}

describe('when a channel changes from `hourly` to `daily` digests', () => {
  it('only the daily digest contains the items of an hourly digest that is claimed but not stored [digests.exactly-once]', async () => {
    const scene = await fixture.scene('hourly');
    await scene.publish(scene.event('one'));
    const replica = replicaWith((assemble) => async (due, now) => {
      await scene.send('daily');
      return assemble(due, now);
    });
    await scene.run(ELEVEN, replica);
    await scene.run(NINE);
    expect(await totals(scene)).toEqual({ hourly: [], daily: [1] });
  });

  it('the daily digest does not repeat the items of an hourly digest whose turn is not stored yet [digests.exactly-once]', async () => {
    const scene = await fixture.scene('hourly');
    await scene.publish(scene.event('one'));
    const replica = replicaWith((assemble) => async (due, now) => {
      const turns = await assemble(due, now);
      await scene.send('daily');
      return turns;
    });
    await scene.run(ELEVEN, replica);
    await scene.publish(scene.event('two'), scene.event('three'));
    await scene.run(NINE);
    expect(await totals(scene)).toEqual({ hourly: [1], daily: [2] });
  });

  it('the daily digest does not repeat the items of an hourly digest whose turn was lost in a crash [digests.exactly-once]', async () => {
    const scene = await fixture.scene('hourly');
    await scene.publish(scene.event('one'));
    await stored(scene);
    const turns = await claimDueTurns(fixture.database, ['hourly'], 1000, ELEVEN);
    const turn = turns.find(({ keywordId }) => keywordId === scene.keywordId)!;
    const appliedSeq = await new EventsProgress(fixture.bus).lastSeq();
    await fixture.assembly().assemble([{ turn, appliedSeq }], ELEVEN);
    await scene.send('daily');
    await scene.publish(scene.event('two'), scene.event('three'));
    await scene.run(ELEVEN + CLAIM_MS);
    await scene.run(NINE);
    expect(await totals(scene)).toEqual({ hourly: [1], daily: [2] });
  });
});

describe('when a channel changes to the mode `instant`', () => {
  const turns = (scene: DigestScene) =>
    fixture.database.query('SELECT mode FROM digest_turns WHERE keyword_id = $1', [scene.keywordId]);

  it('one last digest contains the waiting mentions, and no later mentions [digests.exactly-once]', async () => {
    const scene = await fixture.scene('hourly');
    await scene.publish(scene.event('one'), scene.event('two'));
    await stored(scene, 2);
    await scene.send('instant');
    // Items are stored as long as any channel of the keyword gets digests.
    const other = JSON.stringify({ channelId: newId(), mode: 'daily' });
    await fixture.database.query(
      `UPDATE keywords SET definition = jsonb_insert(definition, '{channels,0}', $2) WHERE keyword_id = $1`,
      [scene.keywordId, other],
    );
    await scene.publish(scene.event('sent immediately'));
    await stored(scene, 3);
    await scene.run(ELEVEN);
    expect(await totals(scene)).toEqual({ hourly: [2], daily: [] });
    expect(await turns(scene)).toEqual([{ mode: 'daily' }]);
  });

  it('an hourly digest that is already claimed contains the mentions that waited at the change', async () => {
    const scene = await fixture.scene('hourly');
    await scene.publish(scene.event('one'));
    const replica = replicaWith((assemble) => async (due, now) => {
      await scene.send('instant');
      return assemble(due, now);
    });
    await scene.run(ELEVEN, replica);
    await scene.run(ELEVEN);
    expect(await totals(scene)).toEqual({ hourly: [1], daily: [] });
    expect(await turns(scene)).toEqual([]);
  });

  it('the last digest contains a mention that was found before the change but stored after it', async () => {
    const scene = await fixture.scene('hourly');
    const event = scene.event('late');
    await scene.publish(event);
    await stored(scene);
    await scene.send('instant');
    const { database, store } = fixture;
    const [[row]] = await database.query<[{ seq: number }[]]>(
      'DELETE FROM digest_items WHERE keyword_id = $1 RETURNING seq',
      [scene.keywordId],
    );
    const message = (await store.at('EVENTS', row!.seq))!;
    const later = { ...message, seq: (await new EventsProgress(fixture.bus).lastSeq()) + 1 };
    const data = toBinary(EventSchema, { ...event, eventId: newId() });
    await digestItemsProjection.apply(database.manager, [message, { ...later, data }] as never);
    await stored(scene);
    await scene.run(ELEVEN);
    expect(await totals(scene)).toEqual({ hourly: [1], daily: [] });
  });

  it('the digests continue when the channel gets a digest mode again', async () => {
    const scene = await fixture.scene('hourly');
    await scene.publish(scene.event('one'));
    await scene.send('instant');
    await scene.send('hourly');
    await scene.publish(scene.event('two'));
    await scene.run(ELEVEN);
    expect(await totals(scene)).toEqual({ hourly: [2], daily: [] });
    expect(await turns(scene)).toEqual([{ mode: 'hourly' }]);
    await scene.send('instant');
    await scene.send();
    expect(await turns(scene)).toEqual([]);
  });
});

it('a channel that is removed while its digest is claimed and not stored yet does not get this digest [digests.times]', async () => {
  const scene = await fixture.scene('hourly');
  await scene.publish(scene.event('one'));
  const replica = replicaWith((assemble) => async (due, now) => {
    await scene.send();
    return assemble(due, now);
  });
  await scene.run(ELEVEN, replica);
  expect(await totals(scene)).toEqual({ hourly: [], daily: [] });
  const turns: unknown[] = await fixture.database.query('SELECT 1 FROM digest_turns WHERE keyword_id = $1', [
    scene.keywordId,
  ]);
  expect(turns).toEqual([]);
});
