import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Controller, UseInterceptors, type Type } from '@nestjs/common';
import type { Observable } from 'rxjs';
import {
  DoneSchema,
  EstimatedSchema,
  EstimateKeywordSchema,
  LookedUpSchema,
  LookUpSchema,
  ReplySchema,
  RetireKeywordSchema,
  type Done,
  type EstimateKeyword,
} from '#contracts';
import { Outage, Refusal } from '#kernel';
import { COMMANDS, connectBus, lookupCommand, type Bus } from '#messaging';
import { arriveWith, createLogger, currentTrace, currentTraceparent, SpanKind } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { CommandClient } from './command-client.js';
import { NatsStrategy } from './nats-strategy.js';
import { CommandPattern } from './patterns.js';
import { command, done, gatedHandler, retiring } from './testing/retiring.js';
import { stopTasks } from './testing/stop-tasks.js';
import { storedCommandTasks } from './testing/stored-command-tasks.js';
import { startReplica } from './testing/strategy-under-test.js';

const log = createLogger('spec', 'silent');
const { retireKeyword, estimateKeyword } = COMMANDS;
let stores: IsolatedStores;
let bus: Bus;
let client: CommandClient;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', log);
  client = new CommandClient(bus);
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

const ask = () => client.request(retireKeyword, command);
const traceparent = `00-${'a'.repeat(32)}-${'1'.repeat(16)}-00`;

/** Runs the function while a replica with the controller runs. */
async function served<T>(controller: Type, question: () => Promise<T>): Promise<T> {
  const replica = await startReplica(bus, controller);
  try {
    return await question();
  } finally {
    await replica.stop();
  }
}

const refusalOf = (question: Promise<unknown>) =>
  question.then(
    () => undefined,
    (error: unknown) =>
      error instanceof Refusal
        ? { kind: error.kind, code: error.code, message: error.message, details: error.details }
        : error,
  );

describe('a command', () => {
  it('reaches the controller as it was sent, and its answer reaches the caller', async () => {
    let got: unknown;
    const controller = retiring(async (input) => {
      got = input;
      return done;
    });
    expect(await served(controller, ask)).toEqual(done);
    expect(got).toEqual(command);
  });

  it('returns a refusal to the caller unchanged, with its details', async () => {
    const refusal = new Refusal('conflict', 'DUPLICATE_SEARCH', 'twice', [
      { path: 'sources', message: 'same' },
    ]);
    const refusing = retiring(() => Promise.reject(refusal));
    expect(await served(refusing, () => refusalOf(ask()))).toEqual({
      kind: 'conflict',
      code: 'DUPLICATE_SEARCH',
      message: 'twice',
      details: [{ path: 'sources', message: 'same' }],
    });
    const bare = retiring(() => Promise.reject(Refusal.notFound('keyword')));
    expect(await served(bare, () => refusalOf(ask()))).toEqual({
      kind: 'not-found',
      code: 'NOT_FOUND',
      message: 'keyword not found',
      details: undefined,
    });
  });

  it.each([new Error('column "secret" does not exist'), 'a string', undefined])(
    'returns `internal`, without the text of the error, for an unexpected error (%s)',
    async (defect) => {
      const broken = retiring(() => Promise.reject(defect as Error));
      expect(await served(broken, () => refusalOf(ask()))).toEqual({
        kind: 'internal',
        code: 'INTERNAL',
        message: 'internal error',
        details: undefined,
      });
    },
  );

  it('returns `unavailable` without the address if a store of the service cannot be reached', async () => {
    const outage = new Outage('Postgres', new Error('connect ECONNREFUSED 10.0.0.1:5432'));
    expect(
      await served(
        retiring(() => Promise.reject(outage)),
        () => refusalOf(ask()),
      ),
    ).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'a store that this request needs cannot answer now; try again',
      details: undefined,
    });
  });

  it('returns `internal` for bytes that are not a message, and the next command is answered', async () => {
    await served(
      retiring(async () => done),
      async () => {
        const garbage = await bus.nc.request(retireKeyword.subject, new Uint8Array([255, 255, 255]));
        expect(fromBinary(ReplySchema, garbage.data).outcome).toMatchObject({
          case: 'refusal',
          value: { status: 500, code: 'INTERNAL' },
        });
        expect(await ask()).toEqual(done);
      },
    );
  });

  it('returns `too-large` for an answer that does not fit into a message, and the next command is answered', async () => {
    @Controller()
    class Estimating {
      @CommandPattern(estimateKeyword)
      async estimate({ accountId }: EstimateKeyword) {
        return create(EstimatedSchema, { estimateJson: 'x'.repeat(Number(accountId)) });
      }
    }
    const estimate = (bytes: number) =>
      client.request(estimateKeyword, create(EstimateKeywordSchema, { accountId: `${bytes}` }));
    await served(Estimating, async () => {
      for (const bytes of [2_000_000, 1024 * 1024])
        expect(await refusalOf(estimate(bytes))).toMatchObject({
          kind: 'too-large',
          code: 'PAYLOAD_TOO_LARGE',
        });
      expect((await estimate(800 * 1024)).estimateJson.length).toBe(800 * 1024);
    });
  });

  it('is refused as too large before it is sent if it does not fit into a message', async () => {
    const large = { ...command, keywordId: 'k'.repeat(1024 * 1024) };
    expect(await refusalOf(client.request(retireKeyword, large))).toMatchObject({
      kind: 'too-large',
      code: 'PAYLOAD_TOO_LARGE',
    });
  });

  it('returns `unavailable` if no service is running', async () => {
    expect(await refusalOf(ask())).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'the keywords service is not running',
      details: undefined,
    });
  });

  it('returns `unavailable` if the service does not answer in time', async () => {
    const { release, controller } = gatedHandler();
    await served(controller, async () => {
      expect(await refusalOf(client.request(retireKeyword, command, 50))).toMatchObject({
        kind: 'unavailable',
        message: 'the keywords service did not answer in time',
      });
      release();
    });
  });

  it('carries trace and request id to the controller', async () => {
    let trace: ReturnType<typeof currentTrace>;
    const controller = retiring(async () => {
      trace = currentTrace();
      return done;
    });
    await served(controller, () =>
      arriveWith('request', SpanKind.SERVER, { traceparent, requestId: 'request 7' }, ask),
    );
    expect(trace).toEqual({ traceId: 'a'.repeat(32), requestId: 'request 7' });
  });

  it('goes to one of several replicas', async () => {
    let calls = 0;
    const controller = retiring(async () => {
      calls += 1;
      return done;
    });
    const replicas = [await startReplica(bus, controller), await startReplica(bus, controller)];
    for (let n = 0; n < 5; n += 1) await ask();
    expect(calls).toBe(5);
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  it('is answered if its handler has an interceptor, which converts the answer to a stream', async () => {
    const passing = { intercept: (_: unknown, next: { handle(): Observable<unknown> }) => next.handle() };
    @Controller()
    class Intercepted {
      @UseInterceptors(passing)
      @CommandPattern(retireKeyword)
      async retire(): Promise<Done> {
        return done;
      }
    }
    expect(await served(Intercepted, ask)).toEqual(done);
  });

  it('cannot have two handlers in one service', async () => {
    const controllers = [retiring(async () => done), retiring(async () => done)];
    await expect(startReplica(bus, ...controllers)).rejects.toThrow(
      'commands.keywords.retire-keyword has two handlers',
    );
  });
});

describe('the messages of a command', () => {
  it('consist only of protobuf bytes: a service answers the bytes of a request with the bytes of a Reply', async () => {
    await served(
      retiring(async () => done),
      async () => {
        const { data } = await bus.nc.request(retireKeyword.subject, toBinary(RetireKeywordSchema, command));
        const expected = { case: 'ok', value: toBinary(DoneSchema, done) };
        expect(fromBinary(ReplySchema, data).outcome).toEqual(expected);
      },
    );
  });

  it('are sent by a client as protobuf bytes only, with traceparent and x-request-id in the headers', async () => {
    const sent: { data: Uint8Array; traceparent?: string; requestId?: string }[] = [];
    const responder = bus.nc.subscribe(retireKeyword.subject, {
      callback: (_, message) => {
        const [traceparent, requestId] = [
          message.headers?.get('traceparent'),
          message.headers?.get('x-request-id'),
        ];
        sent.push({ data: message.data, traceparent, requestId });
        const value = toBinary(DoneSchema, done);
        message.respond(toBinary(ReplySchema, create(ReplySchema, { outcome: { case: 'ok', value } })));
      },
    });
    let running: string | undefined;
    const asking = () => {
      running = currentTraceparent();
      return ask();
    };
    const arrival = { traceparent, requestId: 'request 8' };
    expect(await arriveWith('request', SpanKind.SERVER, arrival, asking)).toEqual(done);
    responder.unsubscribe();
    expect(sent).toEqual([
      {
        data: toBinary(RetireKeywordSchema, command),
        traceparent: running,
        requestId: 'request 8',
      },
    ]);
  });
});

describe('a command that `serve` has added', () => {
  const lookup = () =>
    client.request(lookupCommand('reddit'), create(LookUpSchema, { source: 'reddit', operation: 'user' }));

  it('is answered until its own `stop` is called, and not afterwards', async () => {
    const strategy = new NatsStrategy(bus, log);
    const served = strategy.serve(lookupCommand('reddit'), async ({ operation }) =>
      create(LookedUpSchema, { bodyJson: operation }),
    );
    await bus.nc.flush();
    expect((await lookup()).bodyJson).toBe('user');
    await served.stop();
    expect(await refusalOf(lookup())).toMatchObject({ message: 'the polling service is not running' });
    expect(await strategy.stop(1000)).toEqual([]);
  });

  it('is not answered after the whole strategy has stopped', async () => {
    const strategy = new NatsStrategy(bus, log);
    strategy.serve(lookupCommand('reddit'), async () => create(LookedUpSchema));
    await bus.nc.flush();
    await lookup();
    await strategy.stop(1000);
    expect(await refusalOf(lookup())).toMatchObject({ kind: 'unavailable' });
  });
});

for (const tasks of [storedCommandTasks, stopTasks]) tasks(() => bus);
