import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { SecretBox } from '#secrets';
import { newId, type Clock } from '#kernel';
import type { Database } from '#postgres';
import { createLogger } from '#telemetry';
import { type SpecDatabase, openSpecDatabase, until } from '#testing';
import { setCaller } from '../auth/caller.js';
import { commandIdOf } from '../http/command-id.js';
import { ErrorFilter } from '../http/error.filter.js';
import { setHiddenFailure } from '../http/hidden-failure.js';
import { acceptOnlyJson } from '../http/request-parsing.js';
import { Idempotency } from './idempotency.js';

const HOUR_MS = 3_600_000;
const log = createLogger('spec', 'silent');
let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

const clock: Clock & { at: number } = {
  at: 0,
  now() {
    return new Date(this.at);
  },
};
let accountId: string;
let handle: Handler;
/** The commands that were executed. */
let commands: string[];
const open: { close(): Promise<unknown> }[] = [];

beforeEach(() => {
  clock.at = Date.parse('2026-03-01T12:00:00Z');
  accountId = newId();
  commands = [];
  handle = () => ({ ok: true });
});
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

/** Starts a gateway whose POST routes all call the current `handle`. */
function gateway(on: Database = database) {
  const app = fastify();
  const idempotency = new Idempotency(on, log, new SecretBox('5e'.repeat(32)), clock);
  const filter = new ErrorFilter(log);
  app.addHook('onRequest', (request, _, done) => {
    setCaller(request, {
      accountId,
      plan: 'free',
      role: 'owner',
      by: { kind: 'key', id: newId(), mcpDailyCredits: null },
    });
    done();
  });
  acceptOnlyJson(app);
  idempotency.guard(app);
  app.setErrorHandler((error, _, reply) =>
    filter.catch(error, { switchToHttp: () => ({ getResponse: () => reply }) } as never),
  );
  app.post('/v1/*', (request, reply) => {
    commands.push(commandIdOf(request));
    return handle(request, reply);
  });
  open.push(app);
  return {
    deleteOld: () => idempotency.deleteOld(),
    async post(key: string | undefined, body: unknown = { a: 1 }, url = '/v1/things') {
      const answer = await app.inject({
        method: 'POST',
        url,
        payload: body as object,
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
      });
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.body,
        code: answer.body.startsWith('{') ? (answer.json() as { code?: string }).code : undefined,
      };
    },
  };
}

const answering =
  (status: number, body: unknown = { code: 'X' }): Handler =>
  (_, reply) =>
    reply.status(status).send(body);

describe('a POST with an Idempotency-Key', () => {
  it('runs again if an MCP tool failed with a status that is not stored, even in a response with 200', async () => {
    handle = (request) => {
      setHiddenFailure(request, 429);
      return { isError: true };
    };
    const { post } = gateway();
    expect((await post('k')).status).toBe(200);
    handle = () => ({ ok: true });
    const again = await post('k');
    expect([again.text, again.headers['idempotency-replayed']]).toEqual(['{"ok":true}', undefined]);
    expect((await post('k')).headers['idempotency-replayed']).toBe('true');
  });

  it('runs only once: a repeated POST gets the same bytes, and a header that marks the repetition [limits.key-replay, requests.key-stored]', async () => {
    handle = answering(201, { 'ä "x"': [1.5, null, '\u2028'], nested: { b: 1, a: 2 } });
    const { post } = gateway();
    const [first, second] = [await post('k'), await post('k')];
    expect(commands.length).toBe(1);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
  });

  it('runs only once for a hundred concurrent requests at two gateways; the other requests get 409 or the same answer [requests.key-running]', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    handle = async () => {
      await released;
      return { made: newId() };
    };
    const gateways = [gateway(), gateway()] as const;
    const answers = Array.from({ length: 100 }, (_, n) => gateways[n % 2 === 0 ? 0 : 1].post('k'));
    const waiting = await Promise.any(
      answers.map(async (answer) => {
        const response = await answer;
        if (response.status !== 409) throw new Error('it ran');
        return response;
      }),
    );
    expect([waiting.code, waiting.headers['retry-after']]).toEqual(['IDEMPOTENCY_IN_PROGRESS', '1']);
    release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    expect(commands.length).toBe(1);
    const replays = await Promise.all(gateways.map(({ post }) => post('k')));
    expect(replays.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual([
      [200, 'true'],
      [200, 'true'],
    ]);
  });

  it('counts as the same request if only the order of its properties differs, and is refused with another body or address [errors.key-reused, requests.key-other-body, requests.key-other-endpoint]', async () => {
    const { post } = gateway();
    await post('k', { a: 1, b: 2 });
    expect((await post('k', { b: 2, a: 1 })).headers['idempotency-replayed']).toBe('true');
    for (const other of [
      await post('k', { a: 1, b: 3 }),
      await post('k', { a: 1, b: 2 }, '/v1/others'),
      await post('k', { a: 1, b: 2 }, '/v1/things?x=1'),
    ])
      expect([other.status, other.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(commands.length).toBe(1);
  });

  it('is refused with another body even while the first request with the key is running', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    handle = async () => {
      await released;
      return {};
    };
    const { post } = gateway();
    const first = post('k');
    await until('it runs', () => commands.length === 1);
    expect((await post('k', { other: 1 })).status).toBe(422);
    release();
    expect((await first).status).toBe(200);
  });

  it('can have a key that another account has already used [requests.key-account]', async () => {
    const { post } = gateway();
    await post('k');
    accountId = newId();
    const other = await post('k', { quite: 'another' });
    expect([other.status, other.headers['idempotency-replayed']]).toEqual([200, undefined]);
  });

  it.each([200, 201, 202, 204, 400, 403, 404, 413, 422])(
    'gets the stored answer again if the answer has the status %i [requests.key-stored]',
    async (status) => {
      handle = answering(status, status === 204 ? undefined : { code: 'X' });
      const { post } = gateway();
      const first = await post('k');
      handle = answering(500);
      const second = await post('k');
      expect([second.status, second.text, second.headers['idempotency-replayed']]).toEqual([
        status,
        first.text,
        'true',
      ]);
      expect(second.headers['content-type']).toBe(first.headers['content-type']);
    },
  );

  it.each([401, 402, 409, 429])(
    'leaves no stored answer after the status %i: the next request with the key is a new request [requests.key-stored]',
    async (status) => {
      handle = answering(status);
      const { post } = gateway();
      expect((await post('k')).status).toBe(status);
      handle = answering(201);
      const next = await post('k', { quite: 'another' });
      expect([next.status, next.headers['idempotency-replayed']]).toEqual([201, undefined]);
      expect(new Set(commands).size).toBe(2);
    },
  );

  it.each([500, 503])(
    'runs again as the same command after a %i, and is refused with another body',
    async (status) => {
      handle = answering(status);
      const { post } = gateway();
      expect((await post('k')).status).toBe(status);
      handle = answering(201);
      expect((await post('k', { another: 'body' })).status).toBe(422);
      const second = await post('k');
      expect([second.status, second.headers['idempotency-replayed']]).toEqual([201, undefined]);
      expect([commands.length, new Set(commands).size]).toEqual([2, 1]);
      expect((await post('k')).headers['idempotency-replayed']).toBe('true');
    },
  );

  it.each([401, 402, 409, 429])(
    'stays the same command after a 503 and then a %i, because the first request may have taken effect',
    async (status) => {
      const { post } = gateway();
      for (const next of [503, status, 201]) {
        handle = answering(next);
        expect((await post('k')).status).toBe(next);
      }
      expect([commands.length, new Set(commands).size]).toEqual([3, 1]);
    },
  );

  it('runs again on another gateway, as the same command, after the first gateway has died', async () => {
    handle = () => new Promise(() => undefined);
    const dying = gateway();
    void dying.post('k').catch(() => undefined);
    await until('it runs', () => commands.length === 1);
    handle = answering(201);
    const { post } = gateway();
    clock.at += 14_900;
    expect((await post('k')).code).toBe('IDEMPOTENCY_IN_PROGRESS');
    clock.at += 200;
    expect((await post('k')).status).toBe(201);
    expect([commands.length, new Set(commands).size]).toEqual([2, 1]);
  });

  it('keeps the outcome of the second attempt, even if the first attempt hung and ends later', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    handle = async (_, reply) => {
      await released;
      return reply.status(402).send({ code: 'late' });
    };
    const slow = gateway().post('k');
    await until('it runs', () => commands.length === 1);
    clock.at += 15_001;
    handle = answering(201, { code: 'in time' });
    const { post } = gateway();
    await post('k');
    release();
    expect((await slow).status).toBe(402);
    expect([(await post('k')).status, (await post('k')).code]).toEqual([201, 'in time']);
  });

  it('has a record for 24 hours; then the record is deleted and the key can be used again [limits.key-24h]', async () => {
    const { post, deleteOld } = gateway();
    await post('k');
    clock.at += 24 * HOUR_MS - 1;
    await deleteOld();
    expect((await post('k')).headers['idempotency-replayed']).toBe('true');
    clock.at += 1;
    expect((await post('k', { quite: 'another' })).status).toBe(200);
    expect(new Set(commands).size).toBe(2);
    clock.at += 24 * HOUR_MS;
    await deleteOld();
    const rows: unknown[] = await database.query('SELECT 1 FROM idempotency_records WHERE account_id = $1', [
      accountId,
    ]);
    expect(rows).toEqual([]);
  });

  it.each(['', 'x'.repeat(256)])('is refused if the key is %j [limits.key-length]', async (key) => {
    const answer = await gateway().post(key);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      {
        error: 'Idempotency-Key: must have 1 to 255 characters',
        code: 'VALIDATION',
        details: [{ path: 'Idempotency-Key', message: 'must have 1 to 255 characters' }],
      },
    ]);
    expect(commands).toEqual([]);
  });

  it('can have a key of 255 characters [limits.key-length]', async () => {
    expect((await gateway().post('x'.repeat(255))).status).toBe(200);
  });

  it('is refused before its command runs if its body has a hundred thousand nested levels', async () => {
    const answer = await gateway().post('k', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect([answer.status, answer.code, commands]).toEqual([400, 'VALIDATION', []]);
  });

  it('gets its answer even if the outcome cannot be stored', async () => {
    const failing = {
      query: (sql: string, parameters: unknown[]) =>
        sql.includes('SET status') ? Promise.reject(new Error('gone')) : database.query(sql, parameters),
    } as unknown as Database;
    expect((await gateway(failing).post('k')).status).toBe(200);
  });
});

describe('a POST without an Idempotency-Key', () => {
  it('runs as a separate command each time', async () => {
    const { post } = gateway();
    await post(undefined);
    await post(undefined);
    expect(new Set(commands).size).toBe(2);
  });
});
