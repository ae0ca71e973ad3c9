import type { JsMsg } from '@nats-io/jetstream';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { applyBatch } from './consumer.js';
import type { Projection } from './projection.js';

let spec: SpecDatabase;
const applied: number[] = [];
const log: Projection = {
  name: 'log',
  stream: 'KEYWORDS',
  apply(_, messages) {
    applied.push(...messages.map(({ seq }) => seq));
    return Promise.resolve();
  },
};

beforeAll(async () => (spec = await openSpecDatabase()));
beforeEach(async () => {
  applied.length = 0;
  await spec.database.query('DELETE FROM projection_positions');
});
afterAll(() => spec?.drop());

/** Returns a message that names its predecessor, at its n-th delivery. */
function message(seq: number, predecessor: number, deliveryCount = 1): JsMsg {
  const headers = new Map([['Nats-Expected-Last-Subject-Sequence', String(predecessor)]]);
  return { subject: 's', seq, data: new Uint8Array(), headers, info: { deliveryCount } } as unknown as JsMsg;
}

async function outcomes(batch: JsMsg[], firstAfter?: (seq: number) => number): Promise<string[]> {
  const asked = firstAfter && ((_: string, seq: number) => Promise.resolve(firstAfter(seq)));
  return (await applyBatch(spec.database, log, batch, asked)).map(({ kind }) => kind);
}

it('a message is applied after some deliveries if the stream no longer contains its predecessor', async () => {
  const stream = [message(7, 3, 5), message(9, 7, 5)];
  const first = (after: number) => stream.map(({ seq }) => seq).find((seq) => seq > after) ?? 0;
  expect(await outcomes([message(7, 3), message(9, 7)], first)).toEqual(['retry', 'retry']);
  expect(await outcomes(stream, first)).toEqual(['done', 'retry']);
  expect(await outcomes([message(9, 7, 6)], first)).toEqual(['done']);
  expect(applied).toEqual([7, 9]);
});

it('a message waits for a predecessor that the stream contains, however often the message is delivered', async () => {
  expect(await outcomes([message(7, 3, 50)], () => 3)).toEqual(['retry']);
  expect(await outcomes([message(3, 0)], () => 3)).toEqual(['done']);
  expect(await outcomes([message(7, 3, 51)], () => 7)).toEqual(['done']);
  expect(applied).toEqual([3, 7]);
});
