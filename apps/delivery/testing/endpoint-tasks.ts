import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { KeywordDecisionSchema, type KeywordEventSchema } from '#contracts';
import { isoOf, newId, systemClock } from '#kernel';
import { subjectOf } from '#messaging';
import { until } from '#testing';
import { receivedRequests, type DeliveryUnderTest, type Receiver } from './delivery-under-test.js';

async function endpointOf({ database }: DeliveryUnderTest, url: string) {
  const rows: { disabled_at: Date | null; disabled_reason: string | null; failing_since: Date | null }[] =
    await database.query('SELECT * FROM webhook_endpoints WHERE endpoint = $1', [url]);
  return rows[0];
}

/** Defines tests: when failures disable an endpoint, and when the record of its failures is deleted. */
export function endpointTasks(scene: () => { delivery: DeliveryUnderTest; receiver: Receiver }): void {
  describe('a delivery', () => {
    it.each<[string, (webhookUrl: string) => MessageInitShape<typeof KeywordEventSchema>['event']]>([
      ['watch', (webhookUrl) => ({ case: 'watchChanged', value: { webhookUrl } })],
      [
        'keyword',
        (webhookUrl) => ({
          case: 'keywordChanged',
          value: { definition: { webhookUrl }, webhookChanged: true },
        }),
      ],
    ])(
      'is given up if its endpoint answers 410, and the endpoint is disabled until its URL is set on a %s',
      async (who, naming) => {
        const { delivery, receiver } = scene();
        const path = `/gone-${who}`;
        const url = `${receiver.url}${path}`;
        receiver.answers.set(path, { status: 500 });
        const watchId = await delivery.watch(url);
        const { eventId: queued } = await delivery.event(watchId);
        await delivery.waiting(queued, 1);
        receiver.answers.set(path, { status: 410 });
        const { eventId } = await delivery.event(watchId);
        await until('the endpoint is disabled', async () =>
          Boolean((await endpointOf(delivery, url))?.disabled_at),
        );
        expect((await endpointOf(delivery, url))?.disabled_reason).toBe('the endpoint answered 410 Gone');
        expect([await delivery.pending(eventId), await delivery.pending(queued)]).toEqual([
          undefined,
          undefined,
        ]);
        // ATTEMPTS has a record of the given-up delivery, and one of the disabled endpoint.
        const [, givenUp] = await delivery.attempts(queued, 2);
        expect([givenUp?.number, givenUp?.message]).toEqual([
          0,
          expect.stringMatching(/^not sent: the endpoint/),
        ]);
        const records = await delivery.attempts(eventId, 2);
        expect(records.find(({ endpointDisabled }) => endpointDisabled)?.endpointDisabled).toMatchObject({
          url,
          reason: 'the endpoint answered 410 Gone',
          failures: 2,
          lastStatusCode: 410,
        });
        const requestsBefore = receiver.received.filter((one) => one.path === path).length;

        receiver.answers.delete(path);
        const { eventId: unsent } = await delivery.event(watchId);
        const other = await delivery.watch(`${receiver.url}/after${path}`);
        await delivery.event(other);
        await receivedRequests(receiver, `/after${path}`, 1);
        expect(receiver.received.filter((one) => one.path === path).length).toBe(requestsBefore);
        expect(await delivery.pending(unsent)).toBeUndefined();
        const [skipped] = await delivery.attempts(unsent, 1);
        expect(skipped).toMatchObject({ delivered: false, number: 0, statusCode: 0, nextAttemptAt: '' });
        expect(skipped?.message).toBe(
          'not sent: the endpoint is disabled; POST /v1/endpoints/enable enables it',
        );

        const decision = create(KeywordDecisionSchema, {
          commandId: newId(),
          accountId: delivery.accountId,
          subjectId: watchId,
          decidedAt: isoOf(systemClock.now()),
          events: [{ event: naming(url) }],
        });
        await delivery.store.publish(
          subjectOf('KEYWORDS', delivery.accountId, watchId),
          toBinary(KeywordDecisionSchema, decision),
          newId(),
        );
        await until(
          'the record of the endpoint is deleted',
          async () => (await endpointOf(delivery, url)) === undefined,
        );
        const { eventId: again } = await delivery.event(watchId);
        expect(
          (await receivedRequests(receiver, path, requestsBefore + 1)).at(-1)?.headers['webhook-id'],
        ).toBe(again);
      },
    );

    it('is not retried after its endpoint was disabled', async () => {
      const { delivery, receiver } = scene();
      const url = `${receiver.url}/disabled`;
      receiver.answers.set('/disabled', { status: 500 });
      const { eventId } = await delivery.event(await delivery.watch(url));
      await delivery.waiting(eventId, 1);
      await delivery.database.query(
        `UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'spec' WHERE endpoint = $1`,
        [url],
      );
      await delivery.makeDue();
      await until('the delivery is given up', async () => (await delivery.pending(eventId)) === undefined);
      expect(receiver.received.filter(({ path }) => path === '/disabled').length).toBe(1);
    });

    it('disables its endpoint after 5 days with only failures', async () => {
      const { delivery, receiver } = scene();
      const url = `${receiver.url}/dead`;
      receiver.answers.set('/dead', { status: 503 });
      const { eventId } = await delivery.event(await delivery.watch(url));
      await delivery.waiting(eventId, 1);
      expect((await endpointOf(delivery, url))?.disabled_at).toBeNull();
      await delivery.database.query(
        `UPDATE webhook_endpoints SET failing_since = now() - interval '5 days 1 minute' WHERE endpoint = $1`,
        [url],
      );
      await delivery.makeDue();
      await until('the endpoint is disabled', async () =>
        Boolean((await endpointOf(delivery, url))?.disabled_at),
      );
      expect((await endpointOf(delivery, url))?.disabled_reason).toBe('only failures for 5 days');
      // The record from which `channel.disabled` is built.
      const record = (await delivery.attemptsOf(eventId)).find(({ endpointDisabled }) => endpointDisabled);
      expect(record?.endpointDisabled).toMatchObject({
        url,
        reason: 'only failures for 5 days',
        failures: 2,
        lastStatusCode: 503,
      });
    });

    it('resets the failures of its endpoint when the delivery succeeds', async () => {
      const { delivery, receiver } = scene();
      const url = `${receiver.url}/heals`;
      receiver.answers.set('/heals', { status: 503 });
      const { eventId } = await delivery.event(await delivery.watch(url));
      await delivery.waiting(eventId, 1);
      expect((await endpointOf(delivery, url))?.failing_since).toBeTruthy();
      receiver.answers.delete('/heals');
      await delivery.makeDue();
      await until(
        'the endpoint works again',
        async () => (await endpointOf(delivery, url))?.failing_since === null,
      );
    });
  });
}
