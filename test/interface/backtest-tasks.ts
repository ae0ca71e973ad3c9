import { newId } from '#kernel';
import { openDatabase } from '#postgres';
import type { Json } from '#testing';
import { keywordBody } from './interface-under-test.js';
import type { MentionsScene } from './mentions-scene.js';

/** Tests of backtests: rules run on stored mentions and change nothing. */
export function backtestTasks(scene: MentionsScene): void {
  const { mention } = scene;

  describe('POST /v1/keywords/{id}/backtest', () => {
    const rule = {
      name: 'outage',
      when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: 'outage' }] },
      then: [{ type: 'mark', label: 'flagged' }, { type: 'stop' }],
    };
    let own: Json;
    let found: Json;
    const start = (body: object, id = own.id) => scene.ada.api.post(`/v1/keywords/${id}/backtest`, body);

    beforeAll(async () => {
      const body = keywordBody({ global_criteria: { market: 'global', query: 'tested' } });
      own = (await scene.ada.api.post('/v1/keywords', body)).body;
      const ids = { keyword_id: own.id, watch_id: own.watches[0].id };
      for (let n = 0; n < 5; n += 1)
        await mention({
          ...ids,
          text: n < 2 ? 'an outage of acme' : 'acme promo',
          title: '',
          rules: n === 4 ? ['old'] : [],
        });
    });

    it('returns what changed rules and mutes would have done, and changes nothing [rules.backtest]', async () => {
      const window = { kind: 'volume', window: '1h', min: 1, multiple: 1 };
      const volume = { name: 'many', when: window, then: [{ type: 'notify' }] };
      found = await start({ rules: [rule, volume], mute_rules: ['promo'] });
      expect([found.status, found.body]).toMatchObject([
        200,
        {
          ...{ items: 5, alerts: [], added: 2, removed: 1 },
          byRule: [
            { name: 'outage', fired: 2, perDay: [{ count: 2 }] },
            { name: 'many', fired: 0, perDay: [] },
          ],
          dropped: [
            { reason: 'muted', count: 3 },
            { reason: 'rule', count: 2 },
          ],
        },
      ]);
      const { body } = await scene.ada.api.get(`/v1/keywords/${own.id}`);
      expect([body.rules, body.muteRules, body.version]).toEqual([own.rules, own.muteRules, own.version]);
      expect((await scene.ada.api.get(`/v1/keywords/${own.id}/results`)).body.data).toHaveLength(5);
    });

    it('returns its items in pages, each with its clauses and with what would have been different [rules.backtest-items]', async () => {
      const items: Json[] = [];
      let cursor = '';
      do {
        const page = await scene.ada.api.get(
          `/v1/keywords/${own.id}/backtest/${found.body.id}/items?limit=2${cursor && `&cursor=${cursor}`}`,
        );
        expect(page.body.data.length).toBeLessThanOrEqual(2);
        items.push(...page.body.data);
        cursor = page.body.nextCursor ?? '';
      } while (cursor);
      expect(new Set(items.map(({ mentionId }) => mentionId)).size).toBe(5);
      const [ruleId] = found.body.byRule.map((one: Json) => one.ruleId);
      expect(items.filter(({ added }) => added.length > 0)).toMatchObject(
        [1, 2].map(() => ({
          ...{
            added: [ruleId],
            removed: [],
            labels: ['flagged'],
            dropped: { reason: 'rule', rule: 'outage' },
          },
          ...{ droppedThen: null, rules: [{ fired: true, clauses: [{ field: 'text', holds: true }] }] },
        })),
      );
      expect(items.flatMap(({ removed }) => removed)).toEqual(['old']);
    });

    it('returns only items for which a rule fires or no longer fires if the request has fired=true [rules.backtest-items]', async () => {
      const items: Json[] = [];
      let [cursor, pages] = ['', 0];
      do {
        const page = await scene.ada.api.get(
          `/v1/keywords/${own.id}/backtest/${found.body.id}/items?fired=true&limit=1${cursor && `&cursor=${cursor}`}`,
        );
        items.push(...page.body.data);
        [cursor, pages] = [page.body.nextCursor ?? '', pages + 1];
      } while (cursor);
      expect(items.map(({ added, removed }) => [added.length, removed.length])).toEqual([
        [0, 1],
        [1, 0],
        [1, 0],
      ]);
      expect(pages).toBeLessThanOrEqual(4);
    });

    it('refuses keys that a backtest does not have, invalid values and invalid rules, and returns the path of the fault', async () => {
      const clause = { field: 'likes', op: 'contains', value: '1' };
      const { status, body } = await start({
        ...{ name: 'other', since: '2999-01-01', min_relevance: 101 },
        rules: [{ ...rule, when: { kind: 'item', all: [clause] } }],
      });
      expect([status, body.details.map(({ path }: Json) => path).sort()]).toEqual([
        400,
        ['min_relevance', 'name'],
      ]);
      const wrong = await start({ rules: [{ ...rule, when: { kind: 'item', all: [clause] } }] });
      expect(wrong.body.details).toMatchObject([{ path: 'rules[0].when.all[0].op' }]);
      expect((await start({ since: '2999-01-01' })).body.details).toMatchObject([{ path: 'since' }]);
    });

    it('returns 429 while another backtest of the account runs, and the running backtest still returns its result [rules.backtest-once]', async () => {
      const database = await openDatabase(scene.service.stores.databaseUrl, 'spec', 2);
      // The backtest that begins first waits until the lock is released.
      const both = await database.transaction(async (tx) => {
        await tx.query('LOCK TABLE backtests IN EXCLUSIVE MODE');
        const answers = [start({}), start({})];
        expect(await Promise.race(answers)).toMatchObject({
          status: 429,
          body: { code: 'TOO_MANY_REQUESTS' },
        });
        return answers;
      });
      expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 429]);
      expect((await start({})).status).toBe(200);
      await database.destroy();
    });

    it('returns 429 for a page with fired=true while another such page is read, but not for other pages [rules.backtest-once]', async () => {
      const database = await openDatabase(scene.service.stores.databaseUrl, 'spec', 2);
      const page = (query: string) =>
        scene.ada.api.get(`/v1/keywords/${own.id}/backtest/${found.body.id}/items${query}`);
      const all = await database.transaction(async (tx) => {
        await tx.query('LOCK TABLE backtests');
        const [fired, others] = [[page('?fired=true'), page('?fired=true')], [page('')]];
        expect(await Promise.race(fired)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } });
        return { fired, others };
      });
      const statusOf = async (answers: typeof all.fired) =>
        (await Promise.all(answers)).map(({ status }) => status).sort();
      expect([await statusOf(all.fired), await statusOf(all.others)]).toEqual([[200, 429], [200]]);
      expect((await page('?fired=true')).status).toBe(200);
      await database.destroy();
    });

    it('returns 404 for another account’s keyword and backtest', async () => {
      const bob = await scene.service.tenant();
      expect((await bob.api.post(`/v1/keywords/${own.id}/backtest`, {})).status).toBe(404);
      const items = `/v1/keywords/${own.id}/backtest/${found.body.id}/items`;
      expect((await bob.api.get(items)).status).toBe(404);
      expect((await scene.ada.api.get(items.replace(found.body.id, newId()))).status).toBe(404);
      expect((await scene.ada.api.get(items.replace(own.id, scene.keyword.id))).status).toBe(404);
    });
  });
}
