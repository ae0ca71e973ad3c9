import type { ApiAnswer } from '#testing';
import { limitsOf } from '#contracts';
import { keywordBody, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

/** Tests of estimates of changes of a keyword. */
export function estimateChangeTasks(
  service: () => InterfaceUnderTest,
  ada: () => Tenant,
  estimate: (body: unknown, as?: Tenant, path?: string) => Promise<ApiAnswer>,
  rich: ReturnType<typeof keywordBody>,
): void {
  describe('an estimate for an existing keyword', () => {
    const slow = { refresh_interval_seconds: 86_400 };
    const withSearches = (count: number) =>
      keywordBody({
        ...slow,
        sources: [
          {
            source: 'hackernews',
            enabled: true,
            searches: Array.from({ length: count }, (_, n) => ({ overrides: { query: `q${n}` } })),
          },
        ],
      });

    it('does not count the present searches of the keyword twice, even at the limit of the plan [estimate.change, estimate.plan-limits]', async () => {
      const { keywords, searchSlots } = limitsOf('free');
      const bob = await service().tenant('free');
      for (let n = 1; n < (keywords ?? 0); n += 1) await bob.api.post('/v1/keywords', withSearches(1));
      const used = (keywords ?? 0) - 1;
      const own = (searchSlots ?? 0) - used;
      const { id } = (await bob.api.post('/v1/keywords', withSearches(own))).body;
      const path = `/v1/keywords/estimate?keyword=${id}`;
      const renamed = { ...withSearches(own), name: 'Renamed' };
      expect((await estimate(renamed, bob)).body).toMatchObject({
        valid: false,
        refusal: { status: 402, code: 'PLAN_LIMIT' },
      });
      expect((await estimate(renamed, bob, path)).body).toMatchObject({
        valid: true,
        estimate: { searchSlots: { inUse: used, requested: own, limit: searchSlots } },
        warnings: [],
      });
      const refused = await bob.api.patch(`/v1/keywords/${id}`, withSearches(own + 1));
      expect(refused.status).toBe(402);
      expect((await estimate(withSearches(own + 1), bob, path)).body).toEqual({
        valid: false,
        refusal: {
          status: 402,
          code: 'PLAN_LIMIT',
          message: refused.body.error,
          details: refused.body.details,
        },
      });
      expect((await bob.api.patch(`/v1/keywords/${id}`, renamed)).status).toBe(200);
    });

    it('reads the body as PATCH does: a key that the body does not have keeps the keyword’s value [estimate.change]', async () => {
      const { id } = (await ada().api.post('/v1/keywords', { ...rich, backfill: false })).body;
      const changed = { refresh_interval_seconds: 1200, sentiment_enabled: true };
      const path = `/v1/keywords/estimate?keyword=${id.toUpperCase()}`;
      const { valid, estimate: priced } = (await estimate(changed, ada(), path)).body;
      expect([valid, priced.normalized.sentimentEnabled, priced.normalized.coBrandsEnabled]).toEqual([
        true,
        true,
        true,
      ]);
      const before = (await ada().api.get(`/v1/keywords/${id}`)).body;
      expect(before).toMatchObject({ refreshIntervalSeconds: 600, sentimentEnabled: false });
      const after = (await ada().api.patch(`/v1/keywords/${id}`, changed)).body;
      expect(priced.monthlyCredits).toBe(after.monthlyCredits);
      expect(priced.monthlyCredits).toBe(before.monthlyCredits - 4_320 / 2);
      expect((await estimate({ name: null }, ada(), path)).body.refusal).toMatchObject({
        status: 400,
        details: [{ path: 'name' }],
      });
      const camel = await estimate(
        { refreshIntervalSeconds: 600 },
        ada(),
        `/v1/queries/estimate?keyword=${id}`,
      );
      expect(camel.body.estimate.monthlyCredits).toBe(before.monthlyCredits);
    });

    it('returns 404 for another account’s keyword and for an unknown keyword, and 400 for an invalid id [estimate.change]', async () => {
      const bob = await service().tenant();
      const { id } = (await bob.api.post('/v1/keywords', keywordBody())).body;
      for (const unknown of [id, '0190a0b0-0000-7000-8000-000000000001']) {
        const path = `/v1/keywords/estimate?keyword=${unknown}`;
        expect(await estimate({ name: 'Mine' }, ada(), path)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        });
      }
      expect(await estimate(keywordBody(), ada(), '/v1/keywords/estimate?keyword=1')).toMatchObject({
        status: 400,
        body: { details: [{ path: 'keyword' }] },
      });
    });

    it('contains the refusal that PATCH returns for a retired keyword', async () => {
      const { id } = (await ada().api.post('/v1/keywords', keywordBody({ name: 'Gone' }))).body;
      await ada().api.delete(`/v1/keywords/${id}`);
      const refused = await ada().api.patch(`/v1/keywords/${id}`, { name: 'Back' });
      expect((await estimate({ name: 'Back' }, ada(), `/v1/keywords/estimate?keyword=${id}`)).body).toEqual({
        valid: false,
        refusal: { status: 409, code: refused.body.code, message: refused.body.error },
      });
    });
  });
}
