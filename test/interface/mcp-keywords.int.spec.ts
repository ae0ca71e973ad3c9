import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { create } from '@bufbuild/protobuf';
import { LimitKeySchema } from '#contracts';
import { newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { openDatabase } from '#postgres';
import { until } from '#testing';
import { McpSpending } from '../../apps/gateway/mcp/mcp-spending.js';
import { keywordBody, type Tenant } from './interface-under-test.js';
import { callTool, startMcp, type McpUnderTest } from './mcp-under-test.js';

const DAILY_CREDITS = 200;

let setup: McpUnderTest;
let ada: Tenant;
let agent: Client;

beforeAll(async () => {
  setup = await startMcp({ MCP_DAILY_CREDITS: String(DAILY_CREDITS) });
  ada = await setup.service.tenant();
  agent = await setup.connect(ada.api.apiKey);
}, 60_000);
afterAll(() => setup?.stop());

const call = (name: string, args: object, as: Client | undefined = agent) => callTool(as, name, args);

describe('a keyword that an agent creates', () => {
  const keyword = keywordBody({ name: 'By an agent', refresh_interval_seconds: 3600 });

  it('is refused without a token (ESTIMATE_REQUIRED), and with a token of another body or account (ESTIMATE_MISMATCH) [estimate.token-mcp, requests.estimate-required, credits.token-mcp]', async () => {
    expect(await call('create_keyword', { keyword })).toMatchObject({
      isError: true,
      code: 'ESTIMATE_REQUIRED',
      error: expect.stringContaining('call estimate_keyword') as string,
    });
    const estimate = await call('estimate_keyword', { keyword });
    expect(estimate).toMatchObject({ valid: true, monthly_credits: 720 });
    const { estimate_token } = estimate;
    const other = { ...keyword, refresh_interval_seconds: 600 };
    expect(await call('create_keyword', { keyword: other, estimate_token })).toMatchObject({
      code: 'ESTIMATE_MISMATCH',
    });
    const otherSession = await setup.connect((await setup.service.tenant()).api.apiKey);
    expect(await call('create_keyword', { keyword, estimate_token }, otherSession)).toMatchObject({
      code: 'ESTIMATE_MISMATCH',
    });
    const { id } = (await ada.api.post('/v1/keywords', keyword)).body;
    const changed = (await ada.api.post(`/v1/keywords/estimate?keyword=${id}`, keyword)).body;
    expect(await call('create_keyword', { keyword, estimate_token: changed.estimateToken })).toMatchObject({
      code: 'ESTIMATE_MISMATCH',
    });
    await ada.api.delete(`/v1/keywords/${id}?purge=true`);
    const made = await call('create_keyword', { keyword, estimate_token });
    expect(made).toMatchObject({ keyword: { name: 'By an agent', state: 'active' }, monthly_credits: 720 });
    // A client that repeats the call must not create a second keyword.
    expect((await call('create_keyword', { keyword, estimate_token })).keyword.id).toBe(made.keyword.id);
    const { keywords } = await call('list_keywords', { name: 'By an agent' });
    // The purge of the first keyword is possibly still running.
    const active = keywords.filter(({ state }: { state: string }) => state !== 'retired');
    expect(active.map(({ id: its }: { id: string }) => its)).toEqual([made.keyword.id]);
  });

  it('has an estimate with the reason for the refusal if the keyword is not valid', async () => {
    expect(await call('estimate_keyword', { keyword: { name: '' } })).toMatchObject({
      valid: false,
      refusal: { code: 'VALIDATION' },
    });
  });

  it('can be changed, which returns the old and the new price, paused, resumed, retired and purged [mcp.delete]', async () => {
    const estimate = await call('estimate_keyword', { keyword });
    const { id } = (await call('create_keyword', { keyword, estimate_token: estimate.estimate_token }))
      .keyword;
    const priced = await call('estimate_keyword', {
      change_of: id,
      keyword: { refreshIntervalSeconds: 1800 },
    });
    expect(priced).toMatchObject({ valid: true, monthly_credits: 1440 });
    expect(priced).not.toHaveProperty('estimate_token');
    const changed = await call('update_keyword', {
      id,
      changes: { refreshIntervalSeconds: 1800, global_criteria: { market: 'global', query: 'acme corp' } },
    });
    expect(changed).toMatchObject({ monthly_credits_before: 720, monthly_credits: 1440 });
    expect(changed.reset_searches).toHaveLength(1);
    expect(await call('pause_keyword', { id })).toMatchObject({ id, state: 'paused', paused_reason: 'user' });
    expect(await call('resume_keyword', { id })).toMatchObject({ id, state: 'active' });
    expect((await call('get_activity', { id })).untrusted.activity).toBeDefined();
    expect((await call('get_coverage', { id })).untrusted.searches).toHaveLength(2);
    expect(await call('delete_keyword', { id })).toEqual({ id, outcome: 'retired' });
    expect((await call('get_keyword', { id })).keyword.state).toBe('retired');
    expect(await call('delete_keyword', { id, purge: true })).toEqual({ id, outcome: 'purged' });
    expect(await call('get_keyword', { id })).toMatchObject({ isError: true, code: 'NOT_FOUND' });
  });
});

describe('the daily limit of an API key', () => {
  // 24 credits a day: one check on hackernews in each hour.
  const priced = (name: string) =>
    keywordBody({ name, refresh_interval_seconds: 3600, sources: [{ source: 'hackernews', enabled: true }] });
  const expensive = (name: string) => ({ ...priced(name), refresh_interval_seconds: 1440 });

  it('applies to parallel calls through several gateways, and its refusal names the setting [mcp.spend-limit]', async () => {
    const { accountId, api } = await setup.service.tenant();
    const second = await setup.service.anotherGateway({ MCP_DAILY_CREDITS: String(DAILY_CREDITS) });
    const agents = [await setup.connect(api.apiKey), await setup.connect(api.apiKey, second)];
    // 60 credits a day and one first check each: three fit into 200.
    const bodies = Array.from({ length: 8 }, (_, n) => expensive(`Spend ${n}`));
    const tokens = await Promise.all(
      bodies.map((keyword) => call('estimate_keyword', { keyword }, agents[0])),
    );
    expect(tokens[0].monthly_credits).toBe(1800);
    const made = await Promise.all(
      bodies.map((keyword, n) =>
        call('create_keyword', { keyword, estimate_token: tokens[n].estimate_token }, agents[n % 2]),
      ),
    );
    const refused = made.filter(({ isError }) => isError);
    expect(made.length - refused.length).toBe(3);
    expect(refused[0]).toMatchObject({
      code: 'MCP_SPEND_LIMIT',
      error: expect.stringContaining('MCP_DAILY_CREDITS'),
    });
    expect((await api.get('/v1/keywords')).body.data).toHaveLength(3);
    expect((await call('get_credits', {}, agents[1])).mcp_today).toEqual({
      credits_spent: 183,
      daily_limit: 200,
    });
    // Another key of the account has its own limit.
    const other = await setup.connect((await setup.key(accountId)).apiKey);
    expect((await call('get_credits', {}, other)).mcp_today.credits_spent).toBe(0);
  });

  it('counts nothing for a token whose keyword was purged, because this token is refused [mcp.delete]', async () => {
    const own = await setup.connect((await setup.service.tenant()).api.apiKey);
    const keyword = priced('Purged');
    const { estimate_token } = await call('estimate_keyword', { keyword }, own);
    const { id } = (await call('create_keyword', { keyword, estimate_token }, own)).keyword;
    await call('delete_keyword', { id, purge: true }, own);
    const spent = (await call('get_credits', {}, own)).mcp_today;
    expect(await call('create_keyword', { keyword, estimate_token }, own)).toMatchObject({
      isError: true,
      code: 'CONFLICT',
      error: expect.stringMatching(/purged.*new estimate token/) as string,
    });
    expect((await call('get_credits', {}, own)).mcp_today).toEqual(spent);
    const again = await call('estimate_keyword', { keyword }, own);
    expect(
      (await call('create_keyword', { keyword, estimate_token: again.estimate_token }, own)).keyword.name,
    ).toBe('Purged');
  });

  it('counts the checks that a change or a resume causes immediately [mcp.spend-limit]', async () => {
    const own = await setup.connect((await setup.service.tenant()).api.apiKey);
    const spent = async () => (await call('get_credits', {}, own)).mcp_today.credits_spent;
    const first = [{ label: 'a' }, { label: 'b', overrides: { query: 'b' } }];
    const listed = (enabled: boolean, searches: object[]) => [{ source: 'hackernews', enabled, searches }];
    // With one check in a year, the credits of one day are almost 0.
    const keyword = {
      ...priced('Over and over'),
      refresh_interval_seconds: 31_536_000,
      sources: listed(true, first),
    };
    const { estimate_token, estimate } = await call('estimate_keyword', { keyword }, own);
    expect(estimate.startCredits).toBe(2);
    const { id } = (await call('create_keyword', { keyword, estimate_token }, own)).keyword;
    const counted = async (name: string, args: object = {}) => {
      const before = await spent();
      expect(await call(name, { id, ...args }, own)).not.toHaveProperty('isError');
      return (await spent()) - before;
    };
    const change = (changes: object) => counted('update_keyword', { changes });
    // Rounded up: two checks, and a part of a credit for the day.
    expect(await spent()).toBe(3);
    for (const query of ['one', 'two', 'three'])
      expect(await change({ global_criteria: { market: 'global', query } })).toBe(1);
    expect(await change({ name: 'Renamed' })).toBe(0);
    const { searches } = (await call('get_keyword', { id }, own)).keyword.sources[0];
    const more = [...searches, { label: 'c', overrides: { query: 'c' } }];
    expect(await change({ sources: listed(true, more) })).toBe(2);
    expect(await change({ sources: listed(false, more) })).toBe(0);
    expect(await change({ sources: listed(true, more) })).toBe(4);
    expect(await counted('pause_keyword')).toBe(0);
    expect(await counted('resume_keyword')).toBe(3);
    expect(await counted('resume_keyword')).toBe(0);
  });

  it('counts nothing for a change whose estimate is refused', async () => {
    const own = await setup.connect((await setup.service.tenant()).api.apiKey);
    const keyword = priced('Refused');
    const { estimate_token } = await call('estimate_keyword', { keyword }, own);
    const { id } = (await call('create_keyword', { keyword, estimate_token }, own)).keyword;
    const spent = (await call('get_credits', {}, own)).mcp_today;
    const changes = { sources: [{ source: 'usenet', enabled: true }] };
    const { refusal } = await call('estimate_keyword', { change_of: id, keyword: changes }, own);
    expect(await call('update_keyword', { id, changes }, own)).toMatchObject({
      isError: true,
      code: refusal.code,
      error: refusal.message,
      details: refusal.details,
    });
    await call('delete_keyword', { id }, own);
    expect(await call('update_keyword', { id, changes: { name: 'x' } }, own)).toMatchObject({
      code: 'CONFLICT',
    });
    expect((await call('get_credits', {}, own)).mcp_today).toEqual(spent);
  });

  it('counts a create once if the agent repeats the create with the same token [mcp.spend-limit]', async () => {
    const { api } = await setup.service.tenant();
    const own = await setup.connect(api.apiKey);
    const spent = async () => (await call('get_credits', {}, own)).mcp_today.credits_spent;
    const keyword = priced('Once');
    const { estimate_token } = await call('estimate_keyword', { keyword }, own);
    const first = await call('create_keyword', { keyword, estimate_token }, own);
    expect(await spent()).toBe(25);
    expect(await call('create_keyword', { keyword, estimate_token }, own)).toEqual(first);
    expect(await spent()).toBe(25);
  });

  it('counts a create once if the agent sends its token several times at the same time [mcp.spend-limit]', async () => {
    const { api } = await setup.service.tenant();
    const second = await setup.service.anotherGateway({ MCP_DAILY_CREDITS: String(DAILY_CREDITS) });
    const agents = [await setup.connect(api.apiKey), await setup.connect(api.apiKey, second)];
    const [own] = agents;
    const keyword = priced('At once');
    const { estimate_token } = await call('estimate_keyword', { keyword }, own);
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) => call('create_keyword', { keyword, estimate_token }, agents[n % 2])),
    );
    expect(new Set(made.map((one) => one.keyword?.id as unknown)).size).toBe(1);
    expect((await call('get_credits', {}, own)).mcp_today.credits_spent).toBe(25);
  });

  it('gives back the credits of a refused create only once, even if the token was sent several times', async () => {
    const { api } = await setup.service.tenant('free');
    const own = await setup.connect(api.apiKey);
    const keywords = [1, 2, 3].map((n) => priced(`Free ${n}`));
    const tokens = await Promise.all(
      keywords.map(
        async (keyword) => (await call('estimate_keyword', { keyword }, own)).estimate_token as string,
      ),
    );
    for (const n of [0, 1])
      await call('create_keyword', { keyword: keywords[n], estimate_token: tokens[n] }, own);
    const { mcp_today: spent } = await call('get_credits', {}, own);
    const third = { keyword: keywords[2], estimate_token: tokens[2] };
    const refused = await Promise.all(Array.from({ length: 4 }, () => call('create_keyword', third, own)));
    expect(refused.map(({ code }) => code as unknown)).toEqual(Array(4).fill('PLAN_LIMIT'));
    expect((await call('get_credits', {}, own)).mcp_today).toEqual(spent);
  });

  it('refuses every call beyond the limit, even if very many calls arrive at the same time [mcp.spend-limit]', async () => {
    const database = await openDatabase(setup.service.stores.databaseUrl, 'spec', 2);
    const spending = new McpSpending(database, 10);
    const key = { kind: 'key', id: newId(), mcpDailyCredits: null } as const;
    await spending.spend(key, 10, () => Promise.resolve());
    const work = jest.fn(() => Promise.resolve());
    const refused = await Promise.allSettled(
      Array.from({ length: 6 }, () => spending.spendOnce(key, 1, newId(), work)),
    );
    await database.destroy();
    expect(refused.map((one) => one.status === 'rejected' && (one.reason as Refusal).code)).toEqual(
      Array(6).fill('MCP_SPEND_LIMIT'),
    );
    expect(work).not.toHaveBeenCalled();
  });

  it('gives back the credits of a refused command only to the key that reserved them', async () => {
    const database = await openDatabase(setup.service.stores.databaseUrl, 'spec', 4);
    const spending = new McpSpending(database, 10);
    const [first, second] = [newId(), newId()].map(
      (id) => ({ kind: 'key', id, mcpDailyCredits: null }) as const,
    );
    await spending.spend(second!, 5, () => Promise.resolve());
    const ends: (() => void)[] = [];
    const refused = () =>
      new Promise<void>((_, reject) => ends.push(() => reject(Refusal.conflict('refused'))));
    const commandId = newId();
    const calls = [];
    for (const key of [first!, second!]) {
      calls.push(spending.spendOnce(key, 3, commandId, refused));
      await until('the call runs', () => ends.length === calls.length);
    }
    // The call of the key that has reserved nothing ends last.
    for (const [index, end] of ends.entries()) {
      end();
      await Promise.allSettled([calls[index]]);
    }
    expect(await Promise.all([first!, second!].map(({ id }) => spending.spentToday(id)))).toEqual([0, 5]);
    await database.destroy();
  });

  it('is the limit of the key itself if the key has a limit, and otherwise the setting [mcp.spend-limit]', async () => {
    const { accountId } = await setup.service.tenant();
    const { apiKey, keyId } = await setup.key(accountId, { mcpDailyCredits: 24 });
    const own = await setup.connect(apiKey);
    const limit = async () => (await call('get_credits', {}, own)).mcp_today.daily_limit as number;
    expect(await limit()).toBe(24);
    const keyword = priced('Limited');
    const { estimate_token } = await call('estimate_keyword', { keyword }, own);
    expect(await call('create_keyword', { keyword, estimate_token }, own)).toMatchObject({
      code: 'MCP_SPEND_LIMIT',
      error: expect.stringContaining('the limit of this key') as string,
    });
    const command = { accountId, keyId };
    const changed = (more: object) =>
      setup.commands((client) =>
        client.request(
          COMMANDS.limitKey,
          create(LimitKeySchema, { ...command, commandId: newId(), ...more }),
        ),
      );
    await changed({ mcpDailyCredits: 25 });
    await until('the gateway has read the key again', async () => (await limit()) === 25);
    expect((await call('create_keyword', { keyword, estimate_token }, own)).keyword.name).toBe('Limited');
    await changed({});
    await until('the setting applies', async () => (await limit()) === DAILY_CREDITS);
  }, 60_000);

  it('refuses a change that makes a keyword too expensive, and does not count refused calls', async () => {
    const { api } = await setup.service.tenant();
    const own = await setup.connect(api.apiKey);
    const keyword = priced('Cheap');
    const { estimate_token } = await call('estimate_keyword', { keyword }, own);
    const { id } = (await call('create_keyword', { keyword, estimate_token }, own)).keyword;
    const spent = async () => (await call('get_credits', {}, own)).mcp_today.credits_spent;
    expect(await spent()).toBe(25);
    const changes = { refresh_interval_seconds: 60 };
    expect(await call('update_keyword', { id, changes }, own)).toMatchObject({ code: 'MCP_SPEND_LIMIT' });
    expect((await call('get_keyword', { id }, own)).keyword.refreshIntervalSeconds).toBe(3600);
    expect(
      await call('run_explore', { question: 'acme', sources: ['x'], wait_seconds: 0 }, own),
    ).toMatchObject({ isError: true, code: 'VALIDATION' });
    expect(await spent()).toBe(25);
  });
});
