import { create, fromBinary, toJson, type JsonValue } from '@bufbuild/protobuf';
import { AgentStepSchema, MatchedItemSchema, RuleSchema, ReadingFactSchema } from '#contracts';
import { balanceOf, reserve } from '#credits';
import { toBfloat16 } from '#embeddings';
import { newId } from '#kernel';
import type { LocalReading } from '#readers';
import { CheckScene, ChecksUnderTest, POSITIVE } from '../testing/checks-under-test.js';

let fixture: ChecksUnderTest;

beforeAll(async () => {
  fixture = await ChecksUnderTest.open();
});
afterAll(() => fixture?.close());

describe('a check', () => {
  it('becomes an event with readings, and its readings are also stored on READINGS', async () => {
    const scene = await fixture.scene();
    await fixture.handler().handle(scene.check({ text: 'acme is great' }));
    const [event] = await scene.events();
    expect(event).toMatchObject({
      lang: 'en',
      relevance: 80,
      analysis: { sentiment: 'positive', intent: 'praise', relevance: 80, reader: 'local' },
      charges: [{ operation: 'analysis', costCredits: 1 }],
    });
    expect((await scene.readings()).map((fact) => fact.case)).toEqual(['itemsRead']);
  });

  it('repeats no stored event if NATS delivers it again, even after a change of the settings [readings.final]', async () => {
    const scene = await fixture.scene();
    const check = scene.check({ text: 'acme is great' }, { text: 'acme again' });
    await fixture.handler().handle(check);
    const mute = `[{"value": "acme", "target": "text", "match": "word"}]`;
    await fixture.database.query(
      `UPDATE keywords SET definition = definition || jsonb_build_object('muteRules', $2::jsonb) WHERE keyword_id = $1`,
      [scene.keywordId, mute],
    );
    // For two minutes NATS drops a message whose id is repeated, so the test counts the messages that the handler
    // publishes, not the stored messages.
    const publish = jest.spyOn(fixture.store, 'publishAll');
    await fixture.handler(() => POSITIVE, {}).handle(check, true);
    expect(publish.mock.calls.flatMap(([messages]) => messages)).toEqual([]);
    publish.mockRestore();
    // The new settings apply to a new check.
    await fixture.handler().handle(scene.check({ text: 'acme is great' }));
    expect((await scene.events()).map(({ dropped }) => dropped?.reason)).toEqual([
      undefined,
      undefined,
      'muted',
    ]);
  });

  it('gives the events of its first reading if NATS delivers it again after a crash, even if the reader has changed [readings.final]', async () => {
    const scene = await fixture.scene();
    const check = scene.check({ text: 'acme is great' }, { text: 'acme again' });
    const crashing = fixture.handler();
    await expect(crashing.handle(check, false, 'before the events')).rejects.toThrow('crash');
    const changed = fixture.handler(() => ({ ...POSITIVE, sentiment: 'negative', relevance: 1 }));
    await changed.handle(check, true);
    expect(changed.asked).toEqual([]);
    expect(await scene.readings()).toHaveLength(1);
    const events = await scene.events();
    expect(events.map(({ analysis, relevance }) => [analysis?.sentiment, relevance])).toEqual([
      ['positive', 80],
      ['positive', 80],
    ]);
  });

  it('stores items in other languages and items of low relevance as dropped, and charges nothing for them [readings.languages, readings.min-relevance, readings.order]', async () => {
    const scene = await fixture.scene({ languages: ['en'], minRelevance: 50 });
    const readingOf: Record<string, Partial<LocalReading>> = {
      french: { lang: 'fr' },
      unclear: { lang: undefined },
      homonym: { relevance: 10, reason: 'the fruit' },
    };
    const { handle } = fixture.handler(({ item }) => ({ ...POSITIVE, ...readingOf[item.text] }));
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

  it('gives events with language, relevance and story, but without analysis and charges, if its keyword reads no sentiment [readings.enabled]', async () => {
    const scene = await fixture.scene({ sentimentEnabled: false });
    const { handle, asked } = fixture.handler(() => ({ lang: 'en', relevance: 80, reason: 'the company' }));
    await handle(scene.check({ title: 'acme opens a second office in Berlin' }));
    expect(asked.map(({ analysis }) => analysis)).toEqual([false]);
    const [event] = await scene.events();
    expect(event).toMatchObject({ lang: 'en', relevance: 80, charges: [] });
    expect(event?.storyId).not.toBe('');
    expect(JSON.parse(new TextDecoder().decode(event?.envelope))).not.toHaveProperty('analysis');
  });

  it('does not read muted items [readings.order]', async () => {
    const scene = await fixture.scene({ muteRules: [{ value: 'giveaway', target: 'text', match: 'word' }] });
    const { handle, asked } = fixture.handler();
    await handle(scene.check({ text: 'acme giveaway' }));
    expect(asked).toEqual([]);
    expect((await scene.events())[0]).toMatchObject({ dropped: { reason: 'muted' }, charges: [] });
  });

  it('analyses only as many items as the credits of the account cover; the other items get only a free relevance [readings.credits]', async () => {
    const scene = await fixture.scene({}, 1);
    await fixture.handler().handle(scene.check({ text: 'one' }, { text: 'two' }));
    const events = await scene.events();
    expect(events.map(({ analysis, charges }) => [analysis !== undefined, charges.length])).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(events.every(({ relevance }) => relevance === 80)).toBe(true);
  });

  it('reserves the maximum cost of its readings by a language model, so that no other work spends these credits [readings.credits]', async () => {
    const scene = await fixture.scene({ aiEnabled: true, aiPreset: 'product-model' }, 5);
    const check = scene.check({ text: 'acme one' }, { text: 'acme two' }, { text: 'acme three' });
    const { handle } = fixture.handler(() => POSITIVE, {});
    await handle(check);
    expect((await scene.events()).map(({ charges }) => charges)).toEqual([[]]);
    const reservedCredits = async () => (await balanceOf(fixture.database, scene.accountId))?.reserved;
    expect(await reservedCredits()).toBe(4);
    // A check in another replica gets only the remaining credits, like any other work.
    await fixture.handler(() => POSITIVE, {}).handle(scene.check({ text: 'acme four' }));
    expect(await scene.events()).toHaveLength(2);
    const reservation = { accountId: scene.accountId, credits: 2, lifetimeSeconds: 60 };
    expect(
      (await reserve(fixture.database, [{ ...reservation, reservationId: newId() }])).shortages.size,
    ).toBe(1);
    await handle(check, true);
    expect(await reservedCredits()).toBe(4);
  });

  it('joins the items of one story, and finds duplicates within a keyword [readings.story, readings.duplicates]', async () => {
    const scene = await fixture.scene({ aiEnabled: true, aiPreset: 'duplicates' });
    const media = [{ url: 'https://example.org/story', type: 'link' }];
    await fixture
      .handler()
      .handle(scene.check({ title: 'First', media }, { title: 'Second', media }, { title: 'Other' }));
    const [first, second, other] = await scene.events();
    expect(first?.storyId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.storyId).toBe(first?.storyId);
    expect(other?.storyId).toBe('');
    expect([first?.bucket, second?.bucket?.key]).toEqual([undefined, first?.storyId]);
    expect(second?.charges.map(({ operation }) => operation)).toEqual(['analysis', 'bucket']);
  });

  it('keeps the first label of a bucket if a later item spells the product differently [readings.bucket-key]', async () => {
    const scene = await fixture.scene({ name: 'iPhone', aiEnabled: true, aiPreset: 'product-model' });
    const { handle } = fixture.handler();
    await handle(scene.check({ text: 'My iPhone 15 Pro' }));
    await handle(scene.check({ text: 'an iphone15 PRO' }));
    const buckets = (await scene.events()).map(({ bucket }) => [bucket?.key, bucket?.label]);
    expect(buckets).toEqual([
      ['iphone-15-pro', 'iPhone 15 Pro'],
      ['iphone-15-pro', 'iPhone 15 Pro'],
    ]);
  });

  it('finds brands other than the subject, and charges for this only if the item is a new answer of an AI engine [readings.co-brands]', async () => {
    const scene = await fixture.scene({ coBrandsEnabled: true });
    const text = 'acme vs Globex';
    const answer = { source: 'ai_answers', text };
    const check = scene.check(
      { text },
      { ...answer, eventType: 'answer.created' },
      { ...answer, eventType: 'term.cited' },
    );
    check.source = 'ai_answers';
    await fixture.handler().handle(check);
    const events = await scene.events();
    expect(events.map(({ coBrands }) => coBrands)).toEqual([['Globex'], ['Globex'], ['Globex']]);
    const charged = events.map(
      ({ charges }) => charges.find(({ operation }) => operation === 'co_brands')?.costCredits,
    );
    expect(charged).toEqual([undefined, 2, undefined]);
  });

  it('runs the rules on final events after the readings, and charges the readings even if a rule stops the item [rules.order, rules.stop, rules.mark, rules.webhook, rules.similar-to, rules.backfilled]', async () => {
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
    const scene = await fixture.scene({ rules });
    const meaning = (x: number, y: number) => toBfloat16(Float32Array.of(x, y));
    const { handle } = fixture.handler(({ item: { text } }) => ({
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
    // The rules label a backfilled item, but do not send it.
    expect((await scene.events())[2]).toMatchObject({
      ...{ push: false, labels: ['flagged', 'starred'], ruleWebhook: false, notifyKeywordChannels: false },
    });
  });

  it('stores only one question to the language model instead of an event, even if the check is delivered again', async () => {
    const scene = await fixture.scene();
    const check = scene.check({ text: 'acme is great' });
    const { handle } = fixture.handler(undefined, {});
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

  it('releases its reservation if it waits for nothing and costs nothing', async () => {
    const scene = await fixture.scene({ sentimentEnabled: false });
    const step = create(AgentStepSchema, { instruction: 'Which?', schema: { one: { type: 'string' } } });
    await fixture.database.query('UPDATE watches SET ai = $2 WHERE watch_id = $1', [
      scene.watchId,
      JSON.stringify(toJson(AgentStepSchema, step)),
    ]);
    const check = scene.check(...Array.from({ length: 50 }, () => ({ text: 'acme is great' })));
    // Backfilled items get no agent step.
    check.baseline = true;
    await fixture.handler(undefined, {}).handle(check);
    expect((await scene.events()).map(({ charges }) => charges.length)).toEqual(Array(50).fill(0));
    expect((await balanceOf(fixture.database, scene.accountId))?.reserved).toBe(0);
  });

  it('gives no events if it is delivered again after its questions were stored, even if the language model was removed', async () => {
    const scene = await fixture.scene();
    const check = scene.check({ text: 'acme is great' });
    await fixture.handler(undefined, {}).handle(check);
    await fixture.handler().handle(check, true);
    expect(await scene.events()).toEqual([]);
  });

  it('gives an event with a failed agent step if the question to the model is too large for a message', async () => {
    const scene = await fixture.scene();
    const values = Array.from({ length: 12 }, (_, n) => `${n}`.repeat(90_000));
    const step = { instruction: 'Which?', schema: { one: { type: 'enum', values } } };
    await fixture.database.query('UPDATE watches SET ai = $2 WHERE watch_id = $1', [
      scene.watchId,
      JSON.stringify(toJson(AgentStepSchema, create(AgentStepSchema, step))),
    ]);
    await fixture.handler(undefined, {}).handle(scene.check({ text: 'acme is great' }));
    const [event] = await scene.events();
    expect(JSON.parse(event?.aiJson ?? '')).toMatchObject({ status: 'failed', output: null });
    expect(event?.charges.map(({ operation }) => operation)).toEqual(['analysis']);
  });

  it('gives no events and reads no items if its watch was purged', async () => {
    const { handle, asked } = fixture.handler();
    const scene = new CheckScene(fixture);
    expect(await handle(scene.check({ text: 'acme' }))).toEqual([{ kind: 'done' }]);
    expect([asked, await scene.events()]).toEqual([[], []]);
  });
});
