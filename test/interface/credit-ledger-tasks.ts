import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Check, CheckSchema, Granted } from '#contracts';
import { derivedId, newId } from '#kernel';
import type { Tenant } from './interface-under-test.js';

/** Functions that open accounts, change their credits, and wait for the result. */
interface CreditsScene {
  /** Returns a new account with the plan `free`. */
  tenant(): Promise<Tenant>;
  /** Publishes a check of the account. */
  checked(accountId: string, more?: MessageInitShape<typeof CheckSchema>): Promise<Check>;
  grant(accountId: string, amount: number): Promise<Granted>;
  /** Waits until the account has used this number of credits. */
  used(tenant: Tenant, credits: number): Promise<unknown>;
}

/** Tests of the list of an account's credit movements. */
export function creditLedgerTasks({ tenant, checked, grant, used }: CreditsScene): void {
  describe('GET /v1/credits/ledger', () => {
    it('returns every movement with its cause, newest first [credits.ledger]', async () => {
      const ada = await tenant();
      const { accountId, api } = ada;
      const keywordId = newId();
      const check = await checked(accountId, { keywordId });
      await used(ada, 2);
      const { packId } = await grant(accountId, 10);
      const { body } = await api.get('/v1/credits/ledger');
      const emptyFields = {
        operation: null,
        source: null,
        keywordId: null,
        watchId: null,
        checkId: null,
        rate: null,
        units: null,
        priceBookVersion: null,
      };
      const renewal = body.data[2];
      expect(body).toEqual({
        data: [
          {
            ...emptyFields,
            id: derivedId('grant', accountId, packId),
            at: expect.any(String),
            kind: 'grant',
            amount: 10,
            balanceAfter: 3008,
            reference: packId,
          },
          {
            id: derivedId('charge', check.checkId),
            at: expect.any(String),
            kind: 'charge',
            amount: -2,
            balanceAfter: 2998,
            operation: 'check',
            source: 'reddit',
            keywordId,
            watchId: check.watchId,
            checkId: check.checkId,
            rate: 2,
            units: 1,
            priceBookVersion: '2026-11-20',
            reference: check.checkId,
          },
          {
            ...emptyFields,
            id: derivedId('renewal', accountId, renewal.reference),
            at: expect.any(String),
            kind: 'renewal',
            amount: 3000,
            balanceAfter: 3000,
            reference: (await api.get('/v1/credits')).body.periodStart,
          },
        ],
      });
    });

    it('returns pages, and filters by kind, source, keyword and time', async () => {
      const ada = await tenant();
      const { accountId, api } = ada;
      const keywordId = newId();
      for (let n = 0; n < 5; n += 1) await checked(accountId, { costCredits: n + 1, keywordId });
      await checked(accountId, { source: 'x', costCredits: 100 });
      await used(ada, 115);
      const all = (query: string) => api.all(`/v1/credits/ledger?limit=2${query}`);
      const balances = (await all('')).map((one) => one.balanceAfter);
      expect(balances.length).toBe(7);
      expect(balances).toEqual([...balances].sort((a, b) => a - b));
      expect((await all(`&keyword=${keywordId.toUpperCase()}`)).length).toBe(5);
      expect((await all('&source=x')).map((one) => one.amount)).toEqual([-100]);
      expect((await all('&source=x&source=reddit')).length).toBe(6);
      expect((await all('&kind=renewal')).length).toBe(1);
      expect(await all('&until=2026-01-01')).toEqual([]);
      expect((await all('&since=2026-01-01')).length).toBe(7);
    });

    it('refuses unknown parameters, and cursors of another account or filter', async () => {
      const [{ api, accountId }, other] = [await tenant(), await tenant()];
      await grant(accountId, 1);
      await grant(other.accountId, 1);
      const { nextCursor } = (await api.get('/v1/credits/ledger?limit=1')).body;
      const cursor = encodeURIComponent(nextCursor);
      const status = async (client: typeof api, query: string) =>
        (await client.get(`/v1/credits/ledger?${query}`)).status;
      expect(await status(api, `limit=1&cursor=${cursor}`)).toBe(200);
      expect(await status(other.api, `limit=1&cursor=${cursor}`)).toBe(400);
      expect(await status(api, `limit=1&kind=grant&cursor=${cursor}`)).toBe(400);
      for (const query of [
        'kind=gift',
        'source=usenet',
        'keyword=acme',
        'since=yesterday',
        'limit=201',
        'q=1',
      ])
        expect([query, await status(api, query)]).toEqual([query, 400]);
    });
  });
}
