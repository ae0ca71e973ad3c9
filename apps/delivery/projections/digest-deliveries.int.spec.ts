import { create, toBinary } from '@bufbuild/protobuf';
import { DigestAssembledSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { applyInOrder } from '#projections';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { digestDeliveriesProjection } from './digest-deliveries.projection.js';

const HOUR_MS = 3_600_000;
let spec: SpecDatabase;
beforeAll(async () => (spec = await openSpecDatabase()));
afterAll(() => spec?.drop());

it('a digest older than two days is sent after a stop of the delivery service, but not after a loss of Postgres', async () => {
  const [accountId, keywordId, channelId] = [newId(), newId(), newId()];
  await spec.database.query(
    `INSERT INTO channels (channel_id, account_id, kind, name, state, config, addresses, created_at, updated_at)
     VALUES ($1, $2, 'slack', 'alerts', 'active', '{}', '{}', now(), now())`,
    [channelId, accountId],
  );
  const digests = [
    { hours: 49, reread: true },
    { hours: 47, reread: true },
    { hours: 49, reread: false },
  ].map(({ hours, reread }) => ({
    reread,
    digestId: newId(),
    ...{ accountId, keywordId, channelId },
    assembledAt: isoOf(Date.now() - hours * HOUR_MS),
  }));
  await spec.database.transaction((tx) =>
    applyInOrder(
      tx,
      digestDeliveriesProjection,
      digests.map(({ reread, ...digest }, n) => ({
        reread,
        subject: `digests.${n}`,
        seq: n + 1,
        predecessor: 0,
        data: toBinary(DigestAssembledSchema, create(DigestAssembledSchema, digest)),
      })),
    ),
  );
  const rows = await spec.database.query<{ event_id: string }[]>('SELECT event_id FROM pending_deliveries');
  expect(rows.map((row) => row.event_id).sort()).toEqual([digests[1]?.digestId, digests[2]?.digestId].sort());
});
