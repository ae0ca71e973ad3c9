import { selectRows } from '#clickhouse';
import { subjectOf } from '#messaging';
import { until } from '#testing';
import { receivedRequests } from '../../apps/delivery/testing/delivery-under-test.js';
import { startServicesWithoutSources } from './services-without-sources.js';
import { since, type ReplaysScene } from './replays-scene.js';

/**
 * Tests of replays whose receiver fails, whose keyword is purged, whose events are missing, or whose process
 * died.
 */
export function replayFaultTasks(scene: ReplaysScene): void {
  const { replay, requestsOf, idsOn, url, waiting } = scene;

  describe('a replay', () => {
    it('repeats failed deliveries, and continues with the other deliveries meanwhile [replays.retried]', async () => {
      const keyword = await scene.setup.keyword(null);
      await scene.setup.events(keyword, 4);
      scene.setup.receiver.answers.set('/shaky', { status: 500 });
      const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/shaky') });
      await receivedRequests(scene.setup.receiver, '/shaky', 4);
      await until('all wait', async () => (await waiting(id)) === 4);
      expect((await scene.setup.ada.api.get(`/v1/replays/${id}`)).body).toMatchObject({
        status: 'running',
        sent: 0,
      });
      scene.setup.receiver.answers.clear();
      await scene.setup.database.query("UPDATE pending_deliveries SET due_at = now() - interval '1 second'");
      expect(await scene.setup.ended(id)).toMatchObject({ status: 'done', sent: 4, failed: 0 });
      expect(requestsOf('/shaky', id).length).toBe(8);
    });

    it('fails if the address answers 410, and disables the address', async () => {
      const keyword = await scene.setup.keyword(null);
      await scene.setup.events(keyword, 5);
      scene.setup.receiver.answers.set('/gone', { status: 410 });
      const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/gone') });
      expect(await scene.setup.ended(id)).toMatchObject({
        status: 'failed',
        sent: 0,
        failed: 1,
        message: 'the endpoint is disabled: the endpoint answered 410 Gone',
      });
      expect(requestsOf('/gone', id).length).toBe(1);
      const again = await scene.setup.ada.api.post('/v1/replays', {
        since: since(),
        keyword_id: keyword.keywordId,
        url: url('/gone'),
      });
      expect([again.status, again.body.code]).toEqual([409, 'CONFLICT']);
    });

    it('does not delay live deliveries or other replays if its receiver hangs', async () => {
      const keyword = await scene.setup.keyword(null);
      const beside = await scene.setup.keyword('/beside');
      await scene.setup.events(keyword, 3);
      scene.setup.receiver.answers.set('/hangs', { status: 0 });
      const hanging = await replay({ keyword_id: keyword.keywordId, url: url('/hangs') });
      await receivedRequests(scene.setup.receiver, '/hangs', 1);
      const other = await replay({ keyword_id: keyword.keywordId, url: url('/other') });
      expect(await scene.setup.ended(other.id)).toMatchObject({ status: 'done', sent: 3 });
      await scene.setup.events(beside, 1);
      await receivedRequests(scene.setup.receiver, '/beside', 1);
      expect((await scene.setup.ada.api.get(`/v1/replays/${hanging.id}`)).body.status).toBe('running');
      expect((await scene.setup.ada.api.delete(`/v1/replays/${hanging.id}`)).status).toBe(204);
    });

    it('stops sending soon after it was cancelled, and records its waiting deliveries as given up [replays.cancel]', async () => {
      const keyword = await scene.setup.keyword(null);
      await scene.setup.events(keyword, 30);
      scene.setup.receiver.answers.set('/cancelled', { status: 503 });
      const { id } = await replay({
        keyword_id: keyword.keywordId,
        url: url('/cancelled'),
        rate_per_second: 5,
      });
      await receivedRequests(scene.setup.receiver, '/cancelled', 6);
      expect((await scene.setup.ada.api.delete(`/v1/replays/${id}`)).status).toBe(204);
      expect((await scene.setup.ada.api.delete(`/v1/replays/${id}`)).status).toBe(204);
      const { status, finishedAt } = await scene.setup.ended(id);
      expect([status, typeof finishedAt]).toEqual(['cancelled', 'string']);
      await until('nothing waits', async () => (await waiting(id)) === 0);
      const sent = requestsOf('/cancelled', id).length;
      const givenUp = await until(
        'every event with a recorded attempt also has a record that its delivery was given up',
        async () => {
          const records = (await scene.setup.attempts()).filter(({ targetId }) => targetId === id);
          const found = records.filter(({ number }) => number === 0);
          return found.length === new Set(records.map(({ eventId }) => eventId)).size && found;
        },
      );
      expect(
        givenUp.every(({ message }) =>
          /^not sent(: the replay (was cancelled|has ended)| again: the replay has ended, or another process continues it)$/.test(
            message,
          ),
        ),
      ).toBe(true);
      const { id: next } = await replay({ keyword_id: keyword.keywordId, url: url('/after') });
      await scene.setup.ended(next);
      expect(requestsOf('/cancelled', id).length).toBeLessThanOrEqual(sent + 1);
    });

    it('ends when its keyword is purged [states.purged]', async () => {
      const keyword = await scene.setup.keyword(null);
      await scene.setup.events(keyword, 40);
      const { id } = await replay({
        keyword_id: keyword.keywordId,
        url: url('/purged'),
        rate_per_second: 5,
      });
      const ofWatch = await replay({
        watch_id: keyword.watchId,
        url: url('/purged-too'),
        rate_per_second: 5,
      });
      await receivedRequests(scene.setup.receiver, '/purged', 3);
      expect((await scene.setup.ada.api.delete(`/v1/keywords/${keyword.keywordId}?purge=true`)).status).toBe(
        204,
      );
      const sent = requestsOf('/purged', id).length;
      expect(await scene.setup.ended(id)).toMatchObject({
        status: 'cancelled',
        message: 'the keyword was purged',
      });
      expect(requestsOf('/purged', id).length).toBeLessThanOrEqual(sent + 2);
      expect((await scene.setup.ended(ofWatch.id)).status).toBe('cancelled');
      for (const one of [id, ofWatch.id])
        await until('its address is deleted', async () => {
          const { body } = await scene.setup.ada.api.get(`/v1/replays/${one}`);
          return body.url === null;
        });
      const again = await scene.setup.ada.api.post('/v1/replays', {
        since: since(),
        keyword_id: keyword.keywordId,
        url: url('/purged'),
      });
      expect(again.status).toBe(404);
      await until(
        'its facts are deleted',
        async () =>
          (await scene.setup.store.read('REPLAYS', subjectOf('REPLAYS', scene.setup.ada.accountId, id)))
            .length === 0,
      );
      expect((await scene.setup.ada.api.delete(`/v1/replays/${id}`)).status).toBe(204);
    });

    it('reports the events that are in the index but not in the stream', async () => {
      const keyword = await scene.setup.keyword(null);
      const events = await scene.setup.events(keyword, 5);
      const rows = await until('all events are in the index', async () => {
        const found = await selectRows<{ event_id: string; stream_seq: string; envelope: string }>(
          scene.setup.service.clickhouse,
          'SELECT event_id, stream_seq, envelope FROM events WHERE watch_id = {watchId: UUID} ORDER BY occurred_at',
          { watchId: keyword.watchId },
        );
        return found.length === 5 && found;
      });
      // The index contains the bytes of the stream.
      expect(rows.map(({ event_id, envelope }) => [event_id, envelope])).toEqual(
        events.map(({ id, bytes }) => [id, bytes.toString()]),
      );
      await scene.setup.bus.jsm.streams.deleteMessage('EVENTS', Number(rows[2]?.stream_seq));
      const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/gap') });
      expect(await scene.setup.ended(id)).toMatchObject({
        status: 'done',
        matched: 5,
        sent: 4,
        missing: 1,
        message: '1 event is in the index but not in the stream',
      });
      expect(idsOn('/gap', id)).toEqual(events.filter((_, n) => n !== 2).map((event) => event.id));
    });

    it('is refused while five other replays run, and sends each event once although several replicas run', async () => {
      const keyword = await scene.setup.keyword(null);
      const events = await scene.setup.events(keyword, 20);
      const joined = await startServicesWithoutSources(scene.setup.service.stores);
      const body = { keyword_id: keyword.keywordId, rate_per_second: 10 };
      const replays = await Promise.all(
        [1, 2, 3, 4, 5].map((n) => replay({ ...body, url: url(`/many-${n}`) })),
      );
      const sixth = await scene.setup.ada.api.post('/v1/replays', {
        since: since(),
        ...body,
        url: url('/many-6'),
      });
      expect([sixth.status, sixth.body.code]).toEqual([409, 'CONFLICT']);
      for (const [n, { id }] of replays.entries()) {
        expect(await scene.setup.ended(id)).toMatchObject({ status: 'done', sent: 20 });
        expect(idsOn(`/many-${n + 1}`, id)).toEqual(events.map((event) => event.id));
      }
      for (const service of joined) await service.stop();
    });

    it('continues after its process died, and sends each event at least once [replays.resumes]', async () => {
      const keyword = await scene.setup.keyword(null);
      const events = await scene.setup.events(keyword, 10);
      const { id } = await replay({
        keyword_id: keyword.keywordId,
        url: url('/taken-over'),
        rate_per_second: 2,
      });
      await receivedRequests(scene.setup.receiver, '/taken-over', 3);
      // The replay is claimed but no process works on it, as after a process has died.
      await scene.setup.database.query(
        `UPDATE replays SET claim = gen_random_uuid(), due_at = now() + interval '1 second' WHERE replay_id = $1`,
        [id],
      );
      const ended = await scene.setup.ended(id);
      expect(ended).toMatchObject({ status: 'done', sent: 10, failed: 0 });
      expect([...new Set(idsOn('/taken-over', id))]).toEqual(events.map((event) => event.id));
    });
  });
}
