import { create, fromBinary } from '@bufbuild/protobuf';
import { QueryFailedError } from 'typeorm';
import { AskQuestionSchema, LookupSchema, SettleQuestionSchema } from '#contracts';
import type { Embedder } from '#embeddings';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { fundAccount, openSpecDatabase, type SpecDatabase } from '#testing';
import { WorkCharges } from '../search/work-charges.js';
import { QuestionsHandler } from './questions.handler.js';

const log = createLogger('spec', 'silent');
const embedder = {
  model: 'm',
  embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1, 0)),
} as unknown as Embedder;
let spec: SpecDatabase;
let bus: Bus;

beforeAll(async () => {
  spec = await openSpecDatabase();
  bus = await connectBus(spec.stores.natsUrl, 'spec', log);
});
afterAll(async () => {
  await bus?.close();
  await spec?.drop();
});

describe('a semantic question', () => {
  it('is answered even if Postgres fails after its fact is stored, and is charged only once', async () => {
    const { database } = spec;
    const store = new EventStore(bus);
    const handler = new QuestionsHandler(database, new WorkCharges(database, store, log), embedder, log);
    const question = { accountId: newId(), questionHash: '0f'.repeat(32) };
    await fundAccount(database, question.accountId, 10);
    const settled = async () => {
      const { questionId, holder } = await handler.ask(
        create(AskQuestionSchema, { ...question, commandId: newId(), texts: ['battery'] }),
      );
      return handler.settle(
        create(SettleQuestionSchema, { ...question, questionId, holder, texts: 1, answered: true }),
      );
    };
    const publish = store.publish.bind(store);
    jest.spyOn(store, 'publish').mockImplementationOnce(async (...message) => {
      await publish(...message);
      const outage = new QueryFailedError('DELETE', [], new Error('Connection terminated'));
      jest.spyOn(database, 'query').mockRejectedValue(outage);
    });
    expect((await settled()).costCredits).toBe(2);
    jest.restoreAllMocks();
    await settled();
    const stored = await store.read('LOOKUPS', subjectOf('LOOKUPS', question.accountId));
    expect(new Set(stored.map(({ data }) => fromBinary(LookupSchema, data).lookupId)).size).toBe(1);
  });

  it('keeps its reserved credits while it runs, even if an identical question fails', async () => {
    const { database } = spec;
    const handler = new QuestionsHandler(
      database,
      new WorkCharges(database, new EventStore(bus), log),
      embedder,
      log,
    );
    const accountId = newId();
    await fundAccount(database, accountId, 2);
    const [first, other] = ['0a'.repeat(32), '0b'.repeat(32)].map((questionHash) => ({
      accountId,
      questionHash,
    }));
    const ask = (question = first) =>
      handler.ask(create(AskQuestionSchema, { ...question, commandId: newId(), texts: ['battery'] }));
    const settle = ({ questionId, holder }: Awaited<ReturnType<typeof ask>>, answered: boolean) =>
      handler.settle(create(SettleQuestionSchema, { ...first, questionId, holder, texts: 1, answered }));
    const running = await ask();
    await settle(await ask(), false);
    await expect(ask(other)).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
    expect(await settle(running, true)).toMatchObject({ costCredits: 2 });
  });
});
