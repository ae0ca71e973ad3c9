import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { lockAccount } from '#postgres';
import type { CommandIds } from './keyword-decisions.js';
import { startKeywords, type KeywordsUnderTest } from '../testing/keywords-under-test.js';

let keywords: KeywordsUnderTest;
beforeAll(async () => {
  keywords = await startKeywords();
});
afterAll(() => keywords?.stop());

/**
 * Returns the sources of a keyword with `count` searches, each with another query and filters of `filterBytes` bytes.
 */
const searches = (count: number, filterBytes: number) => ({
  sources: [
    {
      source: 'hackernews',
      enabled: true,
      searches: Array.from({ length: count }, (_, n) => ({
        overridesEnabled: true,
        overrides: { query: `q${n}`, filters: { note: 'x'.repeat(filterBytes) } },
      })),
    },
  ],
});

it('the estimate and the create refuse a keyword that is too large to store, and both refusals state what to shorten', async () => {
  const accountId = await keywords.open('unlimited');
  const large = searches(60, 15 * 1024);
  const refusal = await keywords.keyword(accountId, large).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ kind: 'too-large', code: 'PAYLOAD_TOO_LARGE' });
  expect(String(refusal)).toContain('shorten the filters, or use fewer searches');
  await expect(keywords.estimate(accountId, large)).rejects.toEqual(refusal);
});

it('the estimate and the create apply exactly the same size limit', async () => {
  const accountId = await keywords.open('unlimited');
  const refused = (work: Promise<unknown>) =>
    work.then(
      () => false,
      () => true,
    );
  let [fits, tooLarge] = [10_000, 16_000];
  while (tooLarge - fits > 1) {
    const middle = Math.floor((fits + tooLarge) / 2);
    if (await refused(keywords.estimate(accountId, searches(30, middle)))) tooLarge = middle;
    else fits = middle;
  }
  expect(await refused(keywords.keyword(accountId, searches(30, tooLarge)))).toBe(true);
  expect(await refused(keywords.keyword(accountId, searches(30, fits)))).toBe(false);
});

describe('a create', () => {
  const acme = { globalCriteria: { query: 'acme' } };

  it('stores a keyword whose schedule ends in the year 10000 in UTC', async () => {
    const accountId = await keywords.open('unlimited');
    const schedule = { startsAt: '', endsAt: '9999-12-31T23:59:59', timezone: 'America/New_York' };
    const id = await keywords.keyword(accountId, { ...acme, schedule });
    expect(await keywords.keywordRow(id)).toEqual({ pauses: [], turnsAt: null });
  });

  it('returns the same id and warnings and stores nothing if it is repeated', async () => {
    const accountId = await keywords.open('unlimited');
    const other = await keywords.keyword(accountId, acme);
    const ids = { accountId, commandId: newId() };
    const [first, ...repeats] = [
      await keywords.create(ids, acme),
      await keywords.create(ids, acme),
      ...(await Promise.all([keywords.create(ids, acme), keywords.create(ids, acme)])),
    ];
    expect(first).toMatchObject({ id: ids.commandId, warnings: [{ path: '' }] });
    expect(first?.warnings[0]?.message).toContain(other);
    for (const repeat of repeats) expect(repeat).toEqual(first);
    expect(await decisionsOf(ids)).toBe(1);
  });

  it('is refused and stores nothing if a keyword with its id has been purged', async () => {
    const ids = { accountId: await keywords.open('unlimited'), commandId: newId() };
    await keywords.database.query('INSERT INTO purged_keywords (keyword_id, account_id) VALUES ($1, $2)', [
      ids.commandId,
      ids.accountId,
    ]);
    const refusal = await keywords.create(ids).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'conflict' });
    expect(String(refusal)).toContain('has been purged');
    expect(await decisionsOf(ids)).toBe(0);
    const positions: unknown[] = await keywords.database.query(
      'SELECT 1 FROM projection_positions WHERE subject LIKE $1',
      [`%${ids.commandId}`],
    );
    expect(positions).toEqual([]);
  });

  it('does not warn of a lone watch that has the same search', async () => {
    const accountId = await keywords.open('unlimited');
    await keywords.loneWatch(accountId, 'acme');
    const { warnings } = await keywords.create({ accountId, commandId: newId() }, acme);
    expect(warnings).toEqual([]);
  });

  async function decisionsOf({ accountId, commandId }: CommandIds): Promise<number> {
    const stored = await keywords.store.read('KEYWORDS', subjectOf('KEYWORDS', accountId, commandId));
    return stored.length;
  }
});

describe('the estimate of a change', () => {
  it('needs no credits, because the change itself needs none [estimate.change]', async () => {
    const accountId = await keywords.open('free', 1);
    const id = await keywords.keyword(accountId);
    await expect(keywords.estimate(accountId, searches(3, 1))).rejects.toMatchObject({
      code: 'INSUFFICIENT_CREDITS',
    });
    await keywords.estimate(accountId, searches(3, 1), id);
  });

  it('refuses a keyword that is too large to store, and stores nothing', async () => {
    const accountId = await keywords.open('unlimited');
    const id = await keywords.keyword(accountId);
    const before = await keywords.decisions.run({ accountId, commandId: newId() }, id, () => undefined);
    await expect(keywords.estimate(accountId, searches(60, 15 * 1024), id)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    await keywords.estimate(accountId, searches(2, 1), id);
    expect(await keywords.decisions.run({ accountId, commandId: newId() }, id, () => undefined)).toEqual(
      before,
    );
  });

  it('is answered while a command holds the lock of the account', async () => {
    const accountId = await keywords.open('unlimited');
    const id = await keywords.keyword(accountId);
    await keywords.database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      await keywords.estimate(accountId, searches(2, 1), id);
    });
  });

  it('is refused for the keyword of another account and for an unknown keyword', async () => {
    const id = await keywords.keyword(await keywords.open('free'));
    const accountId = await keywords.open('free');
    for (const unknown of [id, newId()])
      await expect(keywords.estimate(accountId, {}, unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
