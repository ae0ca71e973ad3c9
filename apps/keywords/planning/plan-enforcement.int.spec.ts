import { newId } from '#kernel';
import { startKeywords, type KeywordsUnderTest } from '../testing/keywords-under-test.js';
import { KeywordDecisions } from '../handlers/keyword-decisions.js';
import { PlanEnforcement } from './plan-enforcement.js';

let keywords: KeywordsUnderTest;
beforeAll(async () => {
  keywords = await startKeywords();
});
afterAll(() => keywords?.stop());

/** Makes decisions, and calls a function before the first command. */
class InterruptedDecisions extends KeywordDecisions {
  private before: (() => Promise<unknown>) | undefined;

  constructor(before: () => Promise<unknown>) {
    super(keywords.database, keywords.store);
    this.before = before;
  }

  override async run(...command: Parameters<KeywordDecisions['run']>) {
    const { before } = this;
    this.before = undefined;
    await before?.();
    return super.run(...command);
  }
}

const enforce = (accountId: string, decisions = keywords.decisions) =>
  new PlanEnforcement(decisions, keywords.admission).enforce(accountId, newId());
const changePlan = (accountId: string, plan: string) =>
  keywords.database.query('UPDATE accounts SET plan = $2 WHERE account_id = $1', [accountId, plan]);

/** Returns an account with one keyword more than the plan `free` allows. */
async function threeKeywords() {
  const accountId = await keywords.open('solo');
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push(await keywords.keyword(accountId));
  const pauses = () => Promise.all(ids.map(async (id) => (await keywords.keywordRow(id)).pauses));
  return { accountId, ids, pauses };
}

it('nothing stays paused if the plan becomes larger again during the enforcement of the smaller plan', async () => {
  const { accountId, pauses } = await threeKeywords();
  await changePlan(accountId, 'free');
  const meanwhile = new InterruptedDecisions(async () => {
    await changePlan(accountId, 'solo');
    await enforce(accountId);
  });
  await enforce(accountId, meanwhile);
  expect(await pauses()).toEqual([[], [], []]);
});

it('everything that exceeds the plan stays paused if the plan becomes smaller again during the enforcement of the larger plan', async () => {
  const { accountId, pauses } = await threeKeywords();
  await changePlan(accountId, 'free');
  await enforce(accountId);
  expect(await pauses()).toEqual([[], [], ['plan']]);
  await changePlan(accountId, 'solo');
  const meanwhile = new InterruptedDecisions(async () => {
    await changePlan(accountId, 'free');
    await enforce(accountId);
  });
  await enforce(accountId, meanwhile);
  expect(await pauses()).toEqual([[], [], ['plan']]);
});

it('a keyword that is created during an enforcement is paused if it exceeds the plan', async () => {
  const { accountId, ids, pauses } = await threeKeywords();
  await changePlan(accountId, 'free');
  await enforce(accountId);
  // One of the two running keywords is deleted. Before the third keyword resumes, a new keyword takes the free place.
  const retired = ids.shift();
  await keywords.database.query(`UPDATE keywords SET state = 'retired' WHERE keyword_id = $1`, [retired]);
  const meanwhile = new InterruptedDecisions(async () => {
    ids.push(await keywords.keyword(accountId));
  });
  await enforce(accountId, meanwhile);
  expect(await pauses()).toEqual([[], [], ['plan']]);
});

it('a keyword that is paused because of the plan leaves its search slots to younger watches', async () => {
  const { accountId, pauses } = await threeKeywords();
  const ids: string[] = [];
  for (const query of ['acme', 'globex', 'initech', 'hooli', 'umbrella'])
    ids.push(await keywords.loneWatch(accountId, query));
  await changePlan(accountId, 'free');
  await enforce(accountId);
  expect(await pauses()).toEqual([[], [], ['plan']]);
  const watches = await Promise.all(ids.map((id) => keywords.watchRow(id)));
  // The plan `free` has six search slots. Each of the two running keywords uses one.
  expect(watches.map((watch) => watch.pauses)).toEqual([[], [], [], [], ['plan']]);
});

it('a watch whose criteria contain a field of a newer release is kept or paused like any other watch', async () => {
  const accountId = await keywords.open('free');
  const id = await keywords.loneWatch(accountId, 'acme');
  await keywords.database.query(
    `UPDATE watches SET criteria = criteria || '{"fieldOfNewerRelease": 1}' WHERE watch_id = $1`,
    [id],
  );
  await enforce(accountId);
  expect(await keywords.watchRow(id)).toEqual({ pauses: [] });
  await keywords.database.query('UPDATE watches SET interval_seconds = 1 WHERE watch_id = $1', [id]);
  await enforce(accountId);
  expect(await keywords.watchRow(id)).toEqual({ pauses: ['plan'] });
});
