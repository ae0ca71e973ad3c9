import { newId, Refusal } from '#kernel';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import type { CallingKey } from '../auth/api-keys.js';
import { McpSpending } from './mcp-spending.js';

let spec: SpecDatabase;
let spending: McpSpending;

beforeAll(async () => {
  spec = await openSpecDatabase();
  spending = new McpSpending(spec.database, 100);
});
afterAll(() => spec?.drop());

const CALLS: [string, (key: CallingKey, work: () => Promise<never>) => Promise<unknown>][] = [
  ['work', (key, work) => spending.spend(key, 10, work)],
  ['a command', (key, work) => spending.spendOnce(key, 10, newId(), work)],
];

describe.each(CALLS)('the credits that an API key spends for %s', (_, call) => {
  it.each([
    ['are released', 'it is refused', Refusal.conflict('busy'), 0],
    ['stay counted', 'its outcome is unknown', Refusal.unavailable('no answer'), 10],
    ['stay counted', 'an unexpected error occurs', new Error('broken'), 10],
  ])('%s if %s', async (_outcome, _case, error, counted) => {
    const key: CallingKey = { kind: 'key', id: newId(), mcpDailyCredits: null };
    await expect(call(key, () => Promise.reject(error))).rejects.toBe(error);
    expect(await spending.spentToday(key.id)).toBe(counted);
  });
});
