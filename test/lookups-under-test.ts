import { fromBinary } from '@bufbuild/protobuf';
import { LookupSchema, PRICE_BOOK_VERSION } from '#contracts';
import { EventStore } from '#event-store';
import { connectBus, subjectOf } from '#messaging';
import { createLogger } from '#telemetry';
import { startProgram, until, type ApiAnswer, type Json } from '#testing';
import { setStage, openCustomer, type Customer, type Stage } from './scenario.js';

/** The fields of a lookup that decide its charge. */
export interface LookupFact {
  source: string;
  operation: string;
  question: { cursor?: string };
  outcome: string;
  found: number;
  costCredits: number;
}

/** A response, and the facts that the lookup published. */
export interface LookupResult {
  status: number;
  body: Json;
  facts: LookupFact[];
}

/** The whole program, with a customer who sends lookups. */
export interface LookupsUnderTest {
  stage: Stage;
  customer: Customer;
  asked(send: () => Promise<ApiAnswer>): Promise<LookupResult>;
  got(path: string): Promise<LookupResult>;
  close(): Promise<void>;
}

// Paths of objects that do not exist. The lookup returns 404 as soon as a replica holds the lane of the source.
const PROBES = [
  '/v1/x/users/not.a.name',
  '/v1/youtube/videos/none/comments',
  '/v1/reddit/users/a.b/moderated',
];

/** Starts the built program, and waits until the lanes of all sources with lookups are held. */
export async function startLookups(): Promise<LookupsUnderTest> {
  const stage = await setStage();
  const program = await startProgram('earshot', stage.env);
  const customer = await openCustomer(stage, program.url);
  const { accountId, api } = customer;
  const bus = await connectBus(stage.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  for (const path of PROBES)
    await until(`${path} is answered`, async () => (await api.get(path)).status === 404, 30_000);

  const facts = async (): Promise<LookupFact[]> => {
    const stored = await new EventStore(bus).read('LOOKUPS', subjectOf('LOOKUPS', accountId));
    return stored.map(({ data }) => {
      const fact = fromBinary(LookupSchema, data);
      expect(fact.priceBookVersion).toBe(PRICE_BOOK_VERSION);
      const { source, operation, questionJson, outcome, found, costCredits } = fact;
      const question = JSON.parse(questionJson) as { cursor?: string };
      return { source, operation, question, outcome, found, costCredits };
    });
  };
  const asked = async (send: () => Promise<ApiAnswer>): Promise<LookupResult> => {
    const before = (await facts()).length;
    const { status, body } = await send();
    return { status, body, facts: (await facts()).slice(before) };
  };
  return {
    stage,
    customer,
    asked,
    got: (path) => asked(() => api.get(path)),
    async close() {
      await bus.close();
      await program.stop();
      await stage.close();
    },
  };
}

/**
 * Reads every page of the list under `key` in the body. Expects one fact with this cost for each page.
 */
export async function pagesOf({ got }: LookupsUnderTest, path: string, key: string, cost: number) {
  const pages: { id: string }[][] = [];
  const questions: { cursor?: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await got(cursor === undefined ? path : `${path}?cursor=${encodeURIComponent(cursor)}`);
    expect([page.status, page.body.meta]).toEqual([200, { credits_used: cost }]);
    expect(page.facts).toMatchObject([{ outcome: 'found', costCredits: cost, found: page.body[key].length }]);
    pages.push(page.body[key]);
    questions.push(page.facts[0]?.question ?? {});
    cursor = page.body.nextCursor;
  } while (cursor !== undefined);
  return { pages, questions };
}
