import { create } from '@bufbuild/protobuf';
import { DoneSchema, EstimatedSchema, EstimateKeywordSchema, RetireKeywordSchema } from '#contracts';
import { Refusal } from '#kernel';
import { createLogger, currentTrace, traceFrom, withTrace } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { connectBus, type Bus } from './bus.js';
import { COMMANDS } from './command-types.js';
import { commandHandler, sendCommand, serveCommands, type CommandHandler } from './commands.js';

const log = createLogger('spec', 'silent');
let stores: IsolatedStores;
let bus: Bus;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', log);
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

const command = create(RetireKeywordSchema, { commandId: 'c', accountId: 'a', keywordId: 'k', purge: true });
const ask = () => sendCommand(bus, COMMANDS.retireKeyword, command);

/** Serves the command with the function while the question is asked. */
async function served<T>(
  handle: (input: typeof command) => Promise<unknown>,
  question: () => Promise<T>,
): Promise<T> {
  const handler = commandHandler(
    COMMANDS.retireKeyword,
    handle as Parameters<typeof commandHandler<typeof RetireKeywordSchema, typeof DoneSchema>>[1],
  );
  const serving = serveCommands(bus, [handler], log);
  await bus.nc.flush();
  try {
    return await question();
  } finally {
    await serving.stop();
  }
}

const refusalOf = (question: Promise<unknown>) =>
  question.then(
    () => undefined,
    (error: unknown) =>
      error instanceof Refusal
        ? { status: error.status, code: error.code, message: error.message, details: error.details }
        : error,
  );

describe('a command', () => {
  it('reaches its function as it was sent, and brings back what that answers', async () => {
    let got: unknown;
    const answer = await served(async (input) => {
      got = input;
      return create(DoneSchema);
    }, ask);
    expect(got).toEqual(command);
    expect(answer).toEqual(create(DoneSchema));
  });

  it('brings a refusal back as it is, details and all', async () => {
    const refusal = new Refusal(409, 'DUPLICATE_SEARCH', 'twice', [{ path: 'sources', message: 'same' }]);
    const came = await served(
      () => Promise.reject(refusal),
      () => refusalOf(ask()),
    );
    expect(came).toEqual({
      status: 409,
      code: 'DUPLICATE_SEARCH',
      message: 'twice',
      details: [{ path: 'sources', message: 'same' }],
    });
    const bare = await served(
      () => Promise.reject(Refusal.notFound('keyword')),
      () => refusalOf(ask()),
    );
    expect(bare).toEqual({
      status: 404,
      code: 'NOT_FOUND',
      message: 'keyword not found',
      details: undefined,
    });
  });

  it.each([new Error('column "secret" does not exist'), 'a string', undefined])(
    'brings back nothing of a defect but that there was one (%s)',
    async (defect) => {
      const came = await served(
        () => Promise.reject(defect as Error),
        () => refusalOf(ask()),
      );
      expect(came).toEqual({ status: 500, code: 'INTERNAL', message: 'internal error', details: undefined });
    },
  );

  it('whose answer is too large for a message is refused with 413, and the service goes on', async () => {
    const handler = commandHandler(COMMANDS.estimateKeyword, ({ accountId }) =>
      Promise.resolve(create(EstimatedSchema, { estimateJson: 'x'.repeat(Number(accountId)) })),
    );
    const serving = serveCommands(bus, [handler], log);
    await bus.nc.flush();
    const estimate = (bytes: number) =>
      sendCommand(bus, COMMANDS.estimateKeyword, create(EstimateKeywordSchema, { accountId: `${bytes}` }));
    for (const bytes of [2_000_000, 1024 * 1024])
      expect(await refusalOf(estimate(bytes))).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    expect((await estimate(800 * 1024)).estimateJson.length).toBe(800 * 1024);
    await serving.stop();
  });

  it('that is too large for a message is refused with 413 before it is sent', async () => {
    const large = { ...command, keywordId: 'k'.repeat(1024 * 1024) };
    expect(await refusalOf(sendCommand(bus, COMMANDS.retireKeyword, large))).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
  });

  it('is answered with 503 when no service is there', async () => {
    expect(await refusalOf(ask())).toEqual({
      status: 503,
      code: 'UNAVAILABLE',
      message: 'the keywords service is not running',
      details: undefined,
    });
  });

  it('carries the request id to the service', async () => {
    let requestId: string | undefined;
    await served(
      async () => {
        requestId = currentTrace()?.requestId;
        return create(DoneSchema);
      },
      () => withTrace(traceFrom(undefined, 'request 7'), ask),
    );
    expect(requestId).toBe('request 7');
  });

  it('goes to one of several replicas', async () => {
    let calls = 0;
    const handler: CommandHandler = {
      type: COMMANDS.retireKeyword,
      handle: async () => {
        calls += 1;
        return create(DoneSchema);
      },
    };
    const replicas = [serveCommands(bus, [handler], log), serveCommands(bus, [handler], log)];
    await bus.nc.flush();
    for (let n = 0; n < 5; n += 1) await ask();
    expect(calls).toBe(5);
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  it('that is under way at the stop is carried out and answered first', async () => {
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const handler: CommandHandler = {
      type: COMMANDS.retireKeyword,
      handle: async () => {
        begun();
        await gate;
        return create(DoneSchema);
      },
    };
    const serving = serveCommands(bus, [handler], log);
    await bus.nc.flush();
    const asked = ask();
    await hasBegun;
    let stopped = false;
    const stop = serving.stop().then(() => (stopped = true));
    // A stop that waits for nobody is over when the server has said that nothing more comes.
    await bus.nc.flush();
    await bus.nc.flush();
    expect(stopped).toBe(false);
    goOn();
    expect(await asked).toEqual(create(DoneSchema));
    await stop;
  });
});
