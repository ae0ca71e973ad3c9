import { newId } from '#kernel';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { planMissingTurns } from './missing-turns.js';

const NOW = Date.parse('2026-03-04T09:20:00Z');
const accountId = newId();
let spec: SpecDatabase;

beforeAll(async () => {
  spec = await openSpecDatabase();
  await spec.database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, timezone, created_at)
     VALUES ($1, 'a', 'free', '', 'UTC', now())`,
    [accountId],
  );
});
afterAll(() => spec?.drop());

async function keyword(state: string, ...modes: string[]): Promise<string> {
  const keywordId = newId();
  const channels = modes.map((mode) => ({ channelId: newId(), mode }));
  await spec.database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'Acme', $3, $4, now(), now(), 1)`,
    [keywordId, accountId, state, JSON.stringify({ channels })],
  );
  return keywordId;
}

const turns = () =>
  spec.database.query<object[]>(
    'SELECT keyword_id, mode, after_seq::int, due_at FROM digest_turns ORDER BY keyword_id, mode',
  );

it('lost turns of channels with digests are added again; instant channels and retired keywords get no turns', async () => {
  const keywordId = await keyword('active', 'daily', 'hourly', 'instant');
  await keyword('active', 'instant');
  await keyword('retired', 'daily');
  expect(await planMissingTurns(spec.database, 7, NOW)).toBe(false);
  const planned = await turns();
  expect(planned).toMatchObject([
    { keyword_id: keywordId, mode: 'daily', after_seq: 7 },
    { keyword_id: keywordId, mode: 'hourly', after_seq: 7, due_at: new Date('2026-03-04T10:00:00Z') },
  ]);
  await planMissingTurns(spec.database, 8, NOW + 1);
  expect(await turns()).toEqual(planned);
});
