import { newId } from '#kernel';
import { openDatabase } from '#postgres';
import type { Json } from '#testing';
import { expectAuditAgrees } from '../audit.js';
import type { Tenant } from './interface-under-test.js';
import { POSTS, type SemanticScene } from './semantic-scene.js';

/** Tests of analyses: mentions are classified, grouped and summarised. */
export function analysisTasks(scene: SemanticScene): void {
  const { keywordWith, facts } = scene;

  describe('POST /v1/analyses', () => {
    let tenant: Tenant;
    let ids: Record<string, string>;
    beforeAll(async () => {
      tenant = await scene.service.tenant('free');
      ids = (
        await keywordWith(tenant, {
          ...POSTS,
          battery2: 'The battery of my phone does not last a whole day any more.',
          battery3: 'After the update the battery of the phone is empty by noon.',
        })
      ).ids;
    });

    const analyse = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
      tenant.api.call('POST', '/v1/analyses', body, headers);

    it('classifies mentions by the meaning of the classes, for 1 credit each, and a mention given twice counts once [limits.analyses-metered, credits.semantic, analyses.results]', async () => {
      const classes = ['battery life of phones', 'weather and rain', 'food and bakeries'];
      const mention_ids = [ids.battery2, ids.rain, ids.bread, ids.bread];
      const { status, body } = await analyse({ operation: 'classify', mention_ids, classes });
      expect([status, (body.labels as Json[]).map((one) => one.class)]).toEqual([200, classes]);
      expect([body.meta, body.errors, body.operation]).toEqual([{ credits_used: 3 }, [], 'classify']);
    });

    it('groups mentions that mean the same [analyses.results]', async () => {
      const { body } = await analyse({ operation: 'group', mention_ids: Object.values(ids) });
      const [first] = body.groups as { mentionIds: string[] }[];
      expect(first?.mentionIds).toEqual(expect.arrayContaining([ids.battery2, ids.battery3]));
      expect((body.groups as { mentionIds: string[] }[]).flatMap((one) => one.mentionIds).sort()).toEqual(
        Object.values(ids).sort(),
      );
    });

    it('summarises mentions in sentences that cite them [analyses.results]', async () => {
      const { body } = await analyse({ operation: 'summarise', mention_ids: Object.values(ids) });
      expect(body.summary.sentences.length).toBeGreaterThan(1);
      for (const { text, mentionIds } of body.summary.sentences as { text: string; mentionIds: string[] }[]) {
        expect(mentionIds.length).toBeGreaterThan(0);
        const [own] = Object.entries(ids).find(([, id]) => id === mentionIds[0]) ?? [];
        expect({ ...POSTS, [own!]: '' }).toHaveProperty(own!);
        expect(body.summary.text).toContain(text);
      }
    });

    it('returns the stored answer for the same Idempotency-Key, and charges once [analyses.once]', async () => {
      const body = { operation: 'group', mention_ids: [ids.rain, ids.bread] };
      const [first, second] = [
        await analyse(body, { 'idempotency-key': 'k1' }),
        await analyse(body, { 'idempotency-key': 'k1' }),
      ];
      expect([second.body, first.body.meta.credits_used]).toEqual([first.body, 2]);
      expect((await facts(tenant)).filter(({ lookupId }) => lookupId === first.body.id)).toHaveLength(1);
    });

    it('returns 404, and costs nothing, if a mention is unknown or belongs to another account [analyses.foreign]', async () => {
      const before = (await facts(tenant)).length;
      const otherTenant = await scene.service.tenant('free');
      const foreign = (await keywordWith(otherTenant, { theirs: 'Not yours.' })).ids;
      for (const id of [foreign.theirs, newId()]) {
        const refused = await analyse({ operation: 'group', mention_ids: [ids.rain, id] });
        expect([refused.status, refused.body.code]).toEqual([404, 'NOT_FOUND']);
      }
      expect((await facts(tenant)).length).toBe(before);
    });

    it.each([
      ['no operation', {}, 'operation'],
      ['no mention', { operation: 'group', mention_ids: [] }, 'mention_ids'],
      [
        '201 mentions',
        { operation: 'group', mention_ids: Array.from({ length: 201 }, () => newId()) },
        'mention_ids',
      ],
      ['a wrong id', { operation: 'group', mention_ids: ['x'] }, 'mention_ids[0]'],
      ['one class', { operation: 'classify', mention_ids: [newId()], classes: ['a'] }, 'classes'],
      ['no classes', { operation: 'classify', mention_ids: [newId()] }, 'classes'],
      [
        'classes with the operation group, which does not use them',
        { operation: 'group', mention_ids: [newId()], classes: ['a', 'b'] },
        'classes',
      ],
      [
        'an agent without its schema',
        { operation: 'agent', mention_ids: [newId()], instruction: 'x' },
        'schema',
      ],
    ])('returns 400 with the path of the fault for %s', async (_, body, path) => {
      const refused = await analyse(body);
      expect([refused.status, (refused.body.details as Json[]).map((one) => one.path)]).toEqual([
        400,
        expect.arrayContaining([path]),
      ]);
    });

    it('returns 402 before any work if the credits do not cover every mention [analyses.credits]', async () => {
      const poor = await scene.service.tenant('free');
      const own = (await keywordWith(poor, POSTS)).ids;
      const database = await openDatabase(scene.service.stores.databaseUrl, 'spec', 1);
      await database.query('UPDATE credit_balances SET balance = 3 WHERE account_id = $1', [poor.accountId]);
      await database.destroy();
      const body = { operation: 'group', mention_ids: Object.values(own) };
      const refused = await poor.api.call('POST', '/v1/analyses', body);
      expect([refused.status, refused.body.code]).toEqual([402, 'INSUFFICIENT_CREDITS']);
      expect(await facts(poor)).toEqual([]);
    });

    it('stores its charges in the ledger so that the audit agrees', async () => {
      await expectAuditAgrees(scene.service.stores, tenant.accountId);
      const { body } = await tenant.api.get('/v1/credits');
      expect([body.byOperation.analysis_classify, body.creditsReserved]).toEqual([3, 0]);
    });
  });
}
