import {
  create,
  fromBinary,
  toBinary,
  toJson,
  type JsonValue,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import {
  AgentStepSchema,
  CheckSchema,
  EventSchema,
  ItemSchema,
  MatchedItemSchema,
  RuleSchema,
  KeywordDefinitionSchema,
  ReadingFactSchema,
  type Event,
} from '#contracts';
import { balanceOf, reserve } from '#credits';
import { toBfloat16 } from '#embeddings';
import { EventStore } from '#event-store';
import { checkIdOf, isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { ItemBuckets } from '../readings/item-buckets.js';
import { ItemReadings } from '../readings/item-readings.js';
import type { LocalReading, ReadRequest } from '#readers';
import { EventRules } from '../rules/event-rules.js';
import { Similarities } from '../rules/similarities.js';
import { Stories } from '../readings/stories.js';
import { ChecksHandler } from './checks.handler.js';

let stores: IsolatedStores;
let database: Database;
let bus: Bus;
let store: EventStore;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
});
afterAll(async () => {
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

const POSITIVE: LocalReading = {
  lang: 'en',
  relevance: 80,
  reason: 'the company',
  sentiment: 'positive',
  sentimentScore: 0.5,
  intent: 'praise',
};

/** The handler with a reader that answers what the spec says. */
function handlerWith(answer: (request: ReadRequest) => LocalReading = () => POSITIVE, llm?: object) {
  const asked: ReadRequest[] = [];
  const reader = {
    read: async (requests: readonly ReadRequest[]) => {
      asked.push(...requests);
      return requests.map(answer);
    },
    close: async () => {},
  };
  const readings = new ItemReadings(
    reader,
    database,
    store,
    new Stories(database),
    new ItemBuckets(database),
    llm,
  );
  const rules = new EventRules(new Similarities(reader));
  const crashed = { publishAll: () => Promise.reject(new Error('crash')) } as unknown as EventStore;
  const handle = (check: ReturnType<Scene['check']>, redelivered = false, crash?: 'before the events') =>
    new ChecksHandler(database, crash ? crashed : store, readings, rules, llm).handle([
      { data: toBinary(CheckSchema, check), redelivered },
    ]);
  return { handle, asked };
}

/** An account with a keyword and its watch. */
class Scene {
  readonly accountId = newId();
  readonly keywordId = newId();
  readonly watchId = newId();

  static async with(definition: MessageInitShape<typeof KeywordDefinitionSchema> = {}, credits = 100) {
    const scene = new Scene();
    const { accountId, keywordId, watchId } = scene;
    const json = toJson(
      KeywordDefinitionSchema,
      create(KeywordDefinitionSchema, { name: 'Acme', sentimentEnabled: true, ...definition }),
    );
    await database.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, 'Acme', 'active', $3, now(), now(), 1)`,
      [keywordId, accountId, JSON.stringify(json)],
    );
    await database.query(
      `INSERT INTO watches (watch_id, account_id, keyword_id, source, criteria, criteria_hash, interval_seconds,
         webhook_mode, analysis, backfill, is_active, created_at, updated_at)
       VALUES ($1, $2, $3, 'reddit', '{"query":"acme"}', 'x', 60, 'all', $4, false, true, now(), now())`,
      [watchId, accountId, keywordId, definition.sentimentEnabled ?? true],
    );
    await database.query(
      `INSERT INTO credit_balances (account_id, plan, opened_at, period_start, period_end, allowance, allowance_used,
         balance, turns_at, seq) VALUES ($1, 'free', now(), now(), now(), 100, 0, $2, now(), 1)`,
      [accountId, credits],
    );
    return scene;
  }

  check(...items: MessageInitShape<typeof ItemSchema>[]) {
    const at = isoOf(Date.now());
    return create(CheckSchema, {
      checkId: checkIdOf(this.watchId, newId()),
      accountId: this.accountId,
      watchId: this.watchId,
      keywordId: this.keywordId,
      source: 'reddit',
      finishedAt: at,
      part: 1,
      parts: 1,
      items: items.map((item) => ({
        item: {
          itemId: newId(),
          source: 'reddit',
          eventType: 'post.created',
          kind: 'post',
          bodyJson: '{}',
          ...item,
        },
        matches: [{ term: 'acme', field: 'text' }],
      })),
    });
  }

  async events(): Promise<Event[]> {
    const stored = await store.read('EVENTS', subjectOf('EVENTS', this.accountId, this.watchId));
    return stored.map(({ data }) => fromBinary(EventSchema, data));
  }

  async readings() {
    const stored = await store.read('READINGS', subjectOf('READINGS', this.accountId, this.watchId));
    return stored.map(({ data }) => fromBinary(ReadingFactSchema, data).fact);
  }

  question(eventId: string) {
    return store.read('READINGS', subjectOf('READINGS', this.accountId, this.watchId, eventId));
  }
}

describe('a check', () => {
  it('becomes events with what was read, which is stored before them', async () => {
    const scene = await Scene.with();
    await handlerWith().handle(scene.check({ text: 'acme is great' }));
    const [event] = await scene.events();
    expect(event).toMatchObject({
      lang: 'en',
      relevance: 80,
      analysis: { sentiment: 'positive', intent: 'praise', relevance: 80, reader: 'local' },
      charges: [{ operation: 'analysis', costCredits: 1 }],
    });
    expect((await scene.readings()).map((fact) => fact.case)).toEqual(['itemsRead']);
  });

  it('that is delivered again makes no event again that is stored, whatever the settings are then [readings.final]', async () => {
    const scene = await Scene.with();
    const check = scene.check({ text: 'acme is great' }, { text: 'acme again' });
    await handlerWith().handle(check);
    const mute = `[{"value": "acme", "target": "text", "match": "word"}]`;
    await database.query(
      `UPDATE keywords SET definition = definition || jsonb_build_object('muteRules', $2::jsonb) WHERE keyword_id = $1`,
      [scene.keywordId, mute],
    );
    // NATS itself drops a repeated id for two minutes, so what is handed to it counts.
    const publish = jest.spyOn(store, 'publishAll');
    await handlerWith(() => POSITIVE, {}).handle(check, true);
    expect(publish.mock.calls.flatMap(([messages]) => messages)).toEqual([]);
    publish.mockRestore();
    // The same settings apply to a new check.
    await handlerWith().handle(scene.check({ text: 'acme is great' }));
    expect((await scene.events()).map(({ dropped }) => dropped?.reason)).toEqual([
      undefined,
      undefined,
      'muted',
    ]);
  });

  it('that is delivered again after a crash gives the events of its first reading, also when the reader has changed [readings.final]', async () => {
    const scene = await Scene.with();
    const check = scene.check({ text: 'acme is great' }, { text: 'acme again' });
    const crashing = handlerWith();
    await expect(crashing.handle(check, false, 'before the events')).rejects.toThrow('crash');
    const changed = handlerWith(() => ({ ...POSITIVE, sentiment: 'negative', relevance: 1 }));
    await changed.handle(check, true);
    expect(changed.asked).toEqual([]);
    expect(await scene.readings()).toHaveLength(1);
    const events = await scene.events();
    expect(events.map(({ analysis, relevance }) => [analysis?.sentiment, relevance])).toEqual([
      ['positive', 80],
      ['positive', 80],
    ]);
  });

  it('keeps items in other languages and of low relevance as dropped, and charges nothing for them [readings.languages, readings.min-relevance, readings.order]', async () => {
    const scene = await Scene.with({ languages: ['en'], minRelevance: 50 });
    const readingOf: Record<string, Partial<LocalReading>> = {
      french: { lang: 'fr' },
      unclear: { lang: undefined },
      homonym: { relevance: 10, reason: 'the fruit' },
    };
    const { handle } = handlerWith(({ item }) => ({ ...POSITIVE, ...readingOf[item.text] }));
    await handle(scene.check({ text: 'french' }, { text: 'unclear' }, { text: 'homonym' }));
    const events = await scene.events();
    expect(
      events.map(({ dropped, push, charges, analysis, relevanceReason }) => ({
        ...{ reason: dropped?.reason, rule: dropped?.rule, push },
        ...{ charges: charges.length, analysis: analysis !== undefined, relevanceReason },
      })),
    ).toEqual([
      {
        reason: 'language',
        rule: 'fr',
        push: false,
        charges: 0,
        analysis: false,
        relevanceReason: 'the company',
      },
      {
        reason: undefined,
        rule: undefined,
        push: true,
        charges: 1,
        analysis: true,
        relevanceReason: 'the company',
      },
      {
        reason: 'irrelevant',
        rule: '10 < 50',
        push: false,
        charges: 0,
        analysis: false,
        relevanceReason: 'the fruit',
      },
    ]);
  });

  it('without analysis has language, relevance and story, no sentiment, and no charge [readings.enabled]', async () => {
    const scene = await Scene.with({ sentimentEnabled: false });
    const { handle, asked } = handlerWith(() => ({ lang: 'en', relevance: 80, reason: 'the company' }));
    await handle(scene.check({ title: 'acme opens a second office in Berlin' }));
    expect(asked.map(({ analysis }) => analysis)).toEqual([false]);
    const [event] = await scene.events();
    expect(event).toMatchObject({ lang: 'en', relevance: 80, charges: [] });
    expect(event?.storyId).not.toBe('');
    expect(JSON.parse(new TextDecoder().decode(event?.envelope))).not.toHaveProperty('analysis');
  });

  it('does not read muted items [readings.order]', async () => {
    const scene = await Scene.with({ muteRules: [{ value: 'giveaway', target: 'text', match: 'word' }] });
    const { handle, asked } = handlerWith();
    await handle(scene.check({ text: 'acme giveaway' }));
    expect(asked).toEqual([]);
    expect((await scene.events())[0]).toMatchObject({ dropped: { reason: 'muted' }, charges: [] });
  });

  it('reads only as many items as the credits of the account cover [readings.credits]', async () => {
    const scene = await Scene.with({}, 1);
    await handlerWith().handle(scene.check({ text: 'one' }, { text: 'two' }));
    const events = await scene.events();
    expect(events.map(({ analysis, charges }) => [analysis !== undefined, charges.length])).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(events.every(({ relevance }) => relevance === 80)).toBe(true);
  });

  it('with a language model reserves what the readings of each item can cost, so that nothing else spends it [readings.credits]', async () => {
    const scene = await Scene.with({ aiEnabled: true, aiPreset: 'product-model' }, 5);
    const check = scene.check({ text: 'acme one' }, { text: 'acme two' }, { text: 'acme three' });
    const { handle } = handlerWith(() => POSITIVE, {});
    await handle(check);
    expect((await scene.events()).map(({ charges }) => charges)).toEqual([[]]);
    const held = async () => (await balanceOf(database, scene.accountId))?.held;
    expect(await held()).toBe(4);
    // A check in another replica, and any other work, gets what is left.
    await handlerWith(() => POSITIVE, {}).handle(scene.check({ text: 'acme four' }));
    expect(await scene.events()).toHaveLength(2);
    const hold = { accountId: scene.accountId, credits: 2, lifetimeSeconds: 60 };
    expect((await reserve(database, [{ ...hold, holdId: newId() }])).shortages.size).toBe(1);
    await handle(check, true);
    expect(await held()).toBe(4);
  });

  it('joins the items of one story, and finds duplicates within a keyword [readings.story, readings.duplicates]', async () => {
    const scene = await Scene.with({ aiEnabled: true, aiPreset: 'duplicates' });
    const media = [{ url: 'https://example.org/story', type: 'link' }];
    await handlerWith().handle(
      scene.check({ title: 'First', media }, { title: 'Second', media }, { title: 'Other' }),
    );
    const [first, second, other] = await scene.events();
    expect(first?.storyId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.storyId).toBe(first?.storyId);
    expect(other?.storyId).toBe('');
    expect([first?.bucket, second?.bucket?.key]).toEqual([undefined, first?.storyId]);
    expect(second?.charges.map(({ operation }) => operation)).toEqual(['analysis', 'bucket']);
  });

  it('keeps the first label of a bucket, whatever its later spellings are [readings.bucket-key]', async () => {
    const scene = await Scene.with({ name: 'iPhone', aiEnabled: true, aiPreset: 'product-model' });
    const { handle } = handlerWith();
    await handle(scene.check({ text: 'My iPhone 15 Pro' }));
    await handle(scene.check({ text: 'an iphone15 PRO' }));
    const buckets = (await scene.events()).map(({ bucket }) => [bucket?.key, bucket?.label]);
    expect(buckets).toEqual([
      ['iphone-15-pro', 'iPhone 15 Pro'],
      ['iphone-15-pro', 'iPhone 15 Pro'],
    ]);
  });

  it('finds brands beside the subject, and charges for them in answers of AI engines only [readings.co-brands]', async () => {
    const scene = await Scene.with({ coBrandsEnabled: true });
    const text = 'acme vs Globex';
    const answer = { source: 'ai_answers', text };
    const check = scene.check(
      { text },
      { ...answer, eventType: 'answer.created' },
      { ...answer, eventType: 'term.cited' },
    );
    check.source = 'ai_answers';
    await handlerWith().handle(check);
    const events = await scene.events();
    expect(events.map(({ coBrands }) => coBrands)).toEqual([['Globex'], ['Globex'], ['Globex']]);
    const charged = events.map(
      ({ charges }) => charges.find(({ operation }) => operation === 'co_brands')?.costCredits,
    );
    expect(charged).toEqual([undefined, 2, undefined]);
  });

  it('runs the rules on final events after the readings, and charges the readings of what they stop [rules.order, rules.stop, rules.mark, rules.webhook, rules.similar-to, rules.backfilled]', async () => {
    const rule = (name: string, then: object[], ...all: JsonValue[]) =>
      create(RuleSchema, { id: newId(), name, enabled: true, when: { kind: 'item', all }, then });
    const rules = [
      rule('good', [{ type: 'mark', label: 'starred' }, { type: 'webhook' }], {
        ...{ field: 'sentiment', op: 'eq', value: 'positive' },
      }),
      rule('outage', [{ type: 'notify' }], { field: 'text', op: 'similar_to', value: 'it is down' }),
      rule('spam', [{ type: 'stop' }], { field: 'text', op: 'word', value: 'promo' }),
      rule('last', [{ type: 'mark', label: 'flagged' }], { field: 'kind', op: 'exists' }),
    ];
    const scene = await Scene.with({ rules });
    const meaning = (x: number, y: number) => toBfloat16(Float32Array.of(x, y));
    const { handle } = handlerWith(({ item: { text } }) => ({
      ...POSITIVE,
      embedding: text.includes('down') ? meaning(1, 0) : meaning(0, 1),
    }));
    const check = scene.check({ text: 'acme is down' }, { text: 'acme promo' });
    await handle(check);
    const [first, second] = await scene.events();
    expect(first).toMatchObject({
      ...{ push: true, labels: ['flagged', 'starred'] },
      ...{ ruleWebhook: true, notifyKeywordChannels: true },
    });
    expect(first!.dropped).toBeUndefined();
    expect(first!.rules.map(({ name, fired }) => [name, fired])).toEqual([
      ...[
        ['good', true],
        ['outage', true],
        ['spam', false],
        ['last', true],
      ],
    ]);
    expect(second).toMatchObject({
      ...{ push: false, dropped: { reason: 'rule', rule: 'spam' }, labels: ['starred'], ruleWebhook: true },
      ...{ notifyKeywordChannels: false, charges: [{ operation: 'analysis', costCredits: 1 }] },
    });
    expect(second!.rules[1]!.clauses).toMatchObject([{ field: 'text', op: 'similar_to', seenJson: '0' }]);
    check.baseline = true;
    check.items = [
      create(MatchedItemSchema, { item: { itemId: newId(), kind: 'post', text: 'acme', bodyJson: '{}' } }),
    ];
    await handle(check);
    // A backfilled item is labelled, and never sent.
    expect((await scene.events())[2]).toMatchObject({
      ...{ push: false, labels: ['flagged', 'starred'], ruleWebhook: false, notifyKeywordChannels: false },
    });
  });

  it('stores a question in place of an event that waits for a language model, and asks once', async () => {
    const scene = await Scene.with();
    const check = scene.check({ text: 'acme is great' });
    const { handle } = handlerWith(undefined, {});
    await handle(check);
    await handle(check, true);
    expect(await scene.events()).toEqual([]);
    const [reading] = await scene.readings();
    const eventId = reading?.case === 'itemsRead' ? (reading.value.readings[0]?.eventId ?? '') : '';
    const questions = await scene.question(eventId);
    expect(questions).toHaveLength(1);
    expect(fromBinary(ReadingFactSchema, questions[0]!.data).fact).toMatchObject({
      case: 'asked',
      value: { analysis: true, subject: { names: ['Acme', 'acme'], role: 'own' }, draft: { eventId } },
    });
  });

  it('that was asked about is not asked or published again, also when the language model was taken away', async () => {
    const scene = await Scene.with();
    const check = scene.check({ text: 'acme is great' });
    await handlerWith(undefined, {}).handle(check);
    await handlerWith().handle(check, true);
    expect(await scene.events()).toEqual([]);
  });

  it('gets failed steps in place of questions that do not fit into a message', async () => {
    const scene = await Scene.with();
    const values = Array.from({ length: 12 }, (_, n) => `${n}`.repeat(90_000));
    const step = { instruction: 'Which?', schema: { one: { type: 'enum', values } } };
    await database.query('UPDATE watches SET ai = $2 WHERE watch_id = $1', [
      scene.watchId,
      JSON.stringify(toJson(AgentStepSchema, create(AgentStepSchema, step))),
    ]);
    await handlerWith(undefined, {}).handle(scene.check({ text: 'acme is great' }));
    const [event] = await scene.events();
    expect(JSON.parse(event?.aiJson ?? '')).toMatchObject({ status: 'failed', output: null });
    expect(event?.charges.map(({ operation }) => operation)).toEqual(['analysis']);
  });

  it('of a purged watch gives no events and is not read', async () => {
    const { handle, asked } = handlerWith();
    const scene = new Scene();
    expect(await handle(scene.check({ text: 'acme' }))).toEqual([{ kind: 'done' }]);
    expect([asked, await scene.events()]).toEqual([[], []]);
  });
});
