import { headers as natsHeaders } from '@nats-io/nats-core';
import { newId } from '#kernel';
import { markFailed, RETRIED_HEADER } from '#messaging';
import { ChecksUnderTest, messageOf, POSITIVE, type CheckScene } from '../testing/checks-under-test.js';

let fixture: ChecksUnderTest;

beforeAll(async () => {
  fixture = await ChecksUnderTest.open();
});
afterAll(() => fixture?.close());

const items = (count: number) => Array.from({ length: count }, (_, n) => ({ text: `acme ${n} ${newId()}` }));

/** Returns the ids of the events whose readings are stored. */
async function readIds(scene: CheckScene): Promise<string[]> {
  const facts = await scene.readings();
  return facts.flatMap((fact) =>
    fact?.case === 'itemsRead' ? fact.value.readings.map(({ eventId }) => eventId) : [],
  );
}

describe('checks that are handled alone after a failure of their batch', () => {
  it('have one stored reading for each event', async () => {
    const [first, second] = [await fixture.scene(), await fixture.scene()];
    let isFailing = true;
    const { handler } = fixture.handler(({ item }) => {
      if (isFailing && item.text === 'bad') throw new Error('defect');
      return POSITIVE;
    });
    // The first part of the batch has all items of the first check and some items of the second check. Reading the
    // second part fails.
    const messages = [
      messageOf(first.check(...items(10))),
      messageOf(second.check(...items(19), { text: 'bad' })),
    ];
    await expect(handler.handle(messages)).rejects.toThrow('defect');
    markFailed(messages);
    isFailing = false;
    for (const message of messages) await handler.handle([message]);
    for (const [scene, count] of [
      [first, 10],
      [second, 20],
    ] as const) {
      const ids = (await scene.events()).map(({ eventId }) => eventId);
      expect(ids.length).toBe(count);
      expect((await readIds(scene)).sort()).toEqual(ids.sort());
    }
  });

  it('use the credits of the account only once', async () => {
    const [scene, other] = [await fixture.scene({}, 40), await fixture.scene()];
    let isFailing = true;
    const { handler } = fixture.handler(({ item }) => {
      if (isFailing && item.text === 'bad') throw new Error('defect');
      return POSITIVE;
    });
    const messages = [messageOf(scene.check(...items(24))), messageOf(other.check({ text: 'bad' }))];
    await expect(handler.handle(messages)).rejects.toThrow('defect');
    markFailed(messages);
    isFailing = false;
    for (const message of messages) await handler.handle([message]);
    await handler.handle([messageOf(scene.check(...items(10)))]);
    const charges = (await scene.events()).map((event) => event.charges.length);
    expect(charges).toEqual(Array.from({ length: 34 }, () => 1));
  });
});

it('a parked check that is retried changes no stored event and repeats no reading', async () => {
  const scene = await fixture.scene();
  const check = scene.check({ text: 'acme one' }, { text: 'acme two' });
  await fixture.handler().handle(check);
  const stored = await scene.events();
  const headers = natsHeaders();
  headers.set(RETRIED_HEADER, '7');
  const { handler, asked } = fixture.handler(() => ({ ...POSITIVE, relevance: 1 }));
  await handler.handle([{ ...messageOf(check), headers }]);
  expect(asked).toEqual([]);
  expect(await scene.events()).toEqual(stored);
});

it('a check that contains an item twice gives one event, with the first version of the item', async () => {
  const scene = await fixture.scene();
  const itemId = newId();
  await fixture.handler().handle(scene.check({ itemId, text: 'acme' }, { itemId, text: 'acme, changed' }));
  expect((await scene.events()).map(({ matched }) => matched?.item?.text)).toEqual(['acme']);
});
