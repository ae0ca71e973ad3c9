import { endpointIdOf, newId } from '#kernel';
import { type SpecDatabase, openSpecDatabase } from '#testing';
import type { Database } from '../index.js';
import { Targets1763850000000 } from './1763850000000-targets.js';

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());

it('the migration sets the target of each waiting delivery to the webhook of its address', async () => {
  const migration = new Targets1763850000000();
  const runner = database.createQueryRunner();
  await migration.down(runner);
  const [eventId, accountId] = [newId(), newId()];
  await runner.query(
    `INSERT INTO pending_deliveries (event_id, account_id, watch_id, source, endpoint, body, attempts, first_at, due_at)
     VALUES ($1, $2, $2, 'rss', 'https://example.org/hook?key=1', 'x', 3, now(), now())`,
    [eventId, accountId],
  );
  await migration.up(runner);
  await runner.release();
  expect(
    await database.query('SELECT event_id, target_kind, target_id, attempts FROM pending_deliveries'),
  ).toEqual([
    {
      event_id: eventId,
      target_kind: 'webhook',
      target_id: endpointIdOf(accountId, 'https://example.org/hook?key=1'),
      attempts: 3,
    },
  ]);
});
