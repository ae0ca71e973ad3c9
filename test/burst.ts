import { until } from '#testing';
import { balanceOf } from '#credits';
import { openDatabase } from '#postgres';
import { expectAuditAgrees } from './audit.js';
import { watchKeyword, type Customer, type Stage } from './scenario.js';

/** How many items a burst has. */
const BURST = 150;

let brands = 0;

/** A keyword with a term that occurs only in the items of its burst. */
export interface Brand {
  term: string;
  hook: string;
  keywordId: string;
  watchId: string;
}

/** Watches a new brand on Hacker News, every second, with a webhook to the simulator. */
export async function watchBrand(stage: Stage, { api }: Customer): Promise<Brand> {
  brands += 1;
  const term = `Brand${brands}word`;
  const hook = `crash-${brands}`;
  const keyword = await watchKeyword(api, keywordBody(stage, term, hook));
  return { term, hook, keywordId: keyword.id, watchId: keyword.watches[0]?.id ?? '' };
}

/** Returns the body that creates a keyword with this term. */
export function keywordBody(stage: Stage, term: string, hook: string): object {
  return {
    name: term,
    refreshIntervalSeconds: 1,
    globalCriteria: { market: 'global', query: term },
    sources: [{ source: 'hackernews', enabled: true }],
    webhookUrl: `${stage.simulator.url}/hooks/${hook}`,
  };
}

/** Publishes all items of a burst at the same time. */
export function burst(stage: Stage, term: string): void {
  for (let n = 1; n <= BURST; n += 1)
    stage.simulator.world.publish('hackernews', { kind: 'comment', text: `${term} number ${n}` });
}

/**
 * Deletes the keyword, and expects that no credits stay reserved: the reservations of the killed process must
 * be settled or released.
 */
export async function expectNothingReserved(
  stage: Stage,
  { api, accountId }: Customer,
  brand: Brand,
): Promise<void> {
  expect((await api.delete(`/v1/keywords/${brand.keywordId}`)).status).toBe(204);
  const database = await openDatabase(stage.stores.databaseUrl, 'spec', 2);
  try {
    await until(
      'nothing is reserved',
      async () => (await balanceOf(database, accountId))?.reserved === 0,
      30_000,
    );
  } finally {
    await database.destroy();
  }
}

/**
 * Expects that every item is one mention, and that every event was delivered at least once, always with the same
 * bytes. Also expects that every event can be replayed, and that the audit finds no fault.
 */
export async function expectNothingLost(
  stage: Stage,
  { api, accountId }: Customer,
  { hook, keywordId, watchId }: Brand,
): Promise<void> {
  const { receiver } = stage.simulator;
  await until('every event is delivered', () => receiver.countsOf(hook).distinct >= BURST, 75_000);
  const mentions = await until('every mention is readable', async () => {
    const found = await api.all(`/v1/keywords/${keywordId}/results?limit=200`);
    return found.length >= BURST && found;
  });
  const ids = new Set(mentions.map(({ id }: { id: string }) => id));
  expect(mentions).toHaveLength(BURST);
  expect(ids.size).toBe(BURST);
  expect(new Set(mentions.map(({ text }: { text: string }) => text)).size).toBe(BURST);

  const deliveries = receiver.deliveries(hook);
  expect(deliveries.every(({ verified }) => verified)).toBe(true);
  expect(new Set(deliveries.map(({ eventId }) => eventId))).toEqual(ids);
  expect(['copies are the same, byte for byte', new Set(deliveries.map(({ body }) => body)).size]).toEqual([
    'copies are the same, byte for byte',
    BURST,
  ]);

  const replay = await until('every event can be replayed', async () => {
    const found = await api.all(`/v1/hackernews/watches/${watchId}/events?limit=200`);
    return found.length >= BURST && found;
  });
  expect(replay.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
  const { charges } = await expectAuditAgrees(stage.stores, accountId);
  expect(charges).toBeGreaterThan(0);
}
