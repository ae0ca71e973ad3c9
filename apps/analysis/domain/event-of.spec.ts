import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import {
  AgentStepSchema,
  CheckSchema,
  EventSchema,
  ItemReadingSchema,
  ItemSchema,
  MatchedItemSchema,
} from '#contracts';
import { newId } from '#kernel';
import { buildItem } from '#sources';
import { dropOf, eventOf } from './event-of.js';
import { finishedEvent } from './finished-event.js';
import { askedOrFinal } from './reading-asked.js';

const treatment = { dropped: undefined, vip: false, verdicts: [], matchMode: 'platform' };
const matched = create(MatchedItemSchema, {
  item: create(ItemSchema, { itemId: 'ph:1', source: 'producthunt', bodyJson: '{"id":"1"}' }),
});
const checkOf = (more: MessageInitShape<typeof CheckSchema> = {}) =>
  create(CheckSchema, { watchId: newId(), source: 'producthunt', matchMode: 'word', ...more });

describe('the event of an item', () => {
  it('fits into a message of 1 MiB even for the largest possible item', () => {
    const huge = '"\u0001é'.repeat(200_000);
    const item = buildItem('producthunt', {
      itemId: huge,
      eventType: 'producthunt_post.created',
      kind: 'post',
      url: 'https://example.org/'.padEnd(2000, 'x'),
      title: huge,
      text: huge,
      author: huge,
      media: Array.from({ length: 50 }, () => ({
        url: 'https://example.org/'.padEnd(2000, 'x'),
        type: 'image',
      })),
      body: { id: huge, text: huge, lists: Array.from({ length: 500 }, () => ({ a: huge, b: huge })) },
    });
    const matches = Array.from({ length: 550 }, (_, start) => ({
      term: '東'.repeat(60),
      field: 'text',
      start,
      end: start,
    }));
    const verdicts = Array.from({ length: 150 }, () => ({
      step: 'mute',
      value: '東'.repeat(60),
      hit: false,
      detail: 'word in text',
    }));
    const event = eventOf(checkOf(), create(MatchedItemSchema, { item, matches }), {
      ...treatment,
      verdicts,
    });
    expect(toBinary(EventSchema, event).length).toBeLessThan(900 * 1024);
  });

  it('is not pushed if its item is backfilled, or if its check is the first check of the watch', () => {
    const eventsOf = (baseline: boolean, backfilled: boolean) =>
      eventOf(checkOf({ baseline }), { ...matched, backfilled }, treatment);
    expect(eventsOf(false, false)).toMatchObject({ push: true, backfilled: false });
    expect(eventsOf(false, true)).toMatchObject({ push: false, backfilled: true });
    expect(eventsOf(true, false)).toMatchObject({ push: false, backfilled: true });
  });

  it('has the match mode of its check, or of its watch if an old check contains no mode', () => {
    expect(eventOf(checkOf(), matched, treatment).matchMode).toBe('word');
    expect(eventOf(checkOf({ matchMode: '' }), matched, treatment).matchMode).toBe('platform');
  });
});

describe('the envelope of an item that was read', () => {
  const envelopeOf = (reading?: MessageInitShape<typeof ItemReadingSchema>) => {
    const event = eventOf(checkOf(), matched, treatment, reading && create(ItemReadingSchema, reading));
    return JSON.parse(new TextDecoder().decode(event.envelope)) as Record<string, unknown>;
  };

  it('has the key `analysis` after all other keys, with null for each value that was not read [readings.null]', () => {
    const analysis = { sentiment: 'negative', relevance: 80, reader: 'local', model: 'm', version: '1' };
    const envelope = envelopeOf({ relevance: 80, analysis });
    expect(Object.keys(envelope).slice(-2)).toEqual(['ai', 'analysis']);
    expect(envelope['analysis']).toEqual({
      ...analysis,
      sentimentScore: null,
      intent: null,
      reason: null,
      lang: null,
    });
  });

  it('has no `analysis` if sentiment and intent were not read [readings.absent]', () => {
    expect(envelopeOf({ relevance: 80, lang: 'en' })).not.toHaveProperty('analysis');
    expect(envelopeOf()).not.toHaveProperty('analysis');
  });
});

describe('the charges of an event', () => {
  const chargesOf = (dropped: boolean) => {
    const reading = create(ItemReadingSchema, {
      analysis: { sentiment: 'neutral' },
      bucket: { key: 'k', label: 'K' },
    });
    const drop = dropped ? { reason: 'irrelevant', rule: '10 < 50' } : undefined;
    return eventOf(checkOf(), matched, { ...treatment, dropped: drop }, reading).charges.map(
      ({ operation, costCredits }) => [operation, costCredits],
    );
  };

  it('are 1 credit for sentiment and intent together, and 1 credit for a bucket [credits.readings, readings.one-pass]', () => {
    expect(chargesOf(false)).toEqual([
      ['analysis', 1],
      ['bucket', 1],
    ]);
  });

  it('are empty for a dropped item', () => {
    expect(chargesOf(true)).toEqual([]);
  });

  it.each([
    ['completed', 2],
    ['failed', 0],
    ['timeout', 0],
  ] as const)('contain, for an agent step with the status %s, %d credits', (status, credits) => {
    const draft = eventOf(checkOf(), matched, treatment, create(ItemReadingSchema));
    const ai = { status, output: null, model: null, version: null };
    const { charges, envelope } = finishedEvent(draft, { ai, records: [] });
    expect(charges.reduce((sum, { costCredits }) => sum + costCredits, 0)).toBe(credits);
    expect(JSON.parse(new TextDecoder().decode(envelope))).toMatchObject({ ai });
  });
});

describe('the reason why an item is dropped after its reading', () => {
  const dropped = (languages: string[], minRelevance: number | undefined, lang: string, relevance: number) =>
    dropOf({ languages, minRelevance }, { lang, relevance })?.reason;

  it.each([
    [['en'], 'de', 'language'],
    [['en'], 'en', undefined],
    [['pt'], 'pt-BR', undefined],
    [['pt-BR'], 'pt', undefined],
    [['en', 'fr'], '', undefined],
    [[], 'xx', undefined],
  ])(
    'depends on the languages of the keyword: with %j and an item in %j, the reason is %s',
    (languages, lang, reason) => {
      expect(dropped(languages, undefined, lang, 100)).toBe(reason);
    },
  );

  it('is its relevance if the relevance is lower than the keyword requires', () => {
    expect(dropped([], 50, 'en', 49)).toBe('irrelevant');
    expect(dropped([], 50, 'en', 50)).toBeUndefined();
    expect(dropped([], 0, 'en', 0)).toBeUndefined();
    expect(dropped([], undefined, 'en', 0)).toBeUndefined();
  });

  it('is the language, and not the relevance, if neither fits the keyword', () => {
    expect(dropped(['en'], 50, 'de', 10)).toBe('language');
  });
});

describe('an event that can wait for readings', () => {
  const draftOf = (more: { dropped?: boolean; backfilled?: boolean } = {}) =>
    eventOf(
      checkOf({ finishedAt: '2026-03-04T05:06:07.089Z' }),
      { ...matched, backfilled: more.backfilled ?? false },
      { ...treatment, dropped: more.dropped ? { reason: 'irrelevant', rule: '' } : undefined },
      create(ItemReadingSchema, { analysis: { sentiment: 'neutral', reader: 'local' } }),
    );
  const agentStep = create(AgentStepSchema, { instruction: 'Name it' });
  const wanted = {
    subject: { names: ['acme'], role: 'own' },
    agentStep: undefined,
    bucketPreset: '',
    rules: [],
    isPaid: true,
  };

  it('is final without a language model', () => {
    const draft = draftOf();
    expect(askedOrFinal(draft, { ...wanted, bucketPreset: 'theme-sentiment' }, false)).toEqual({
      final: draft,
    });
  });

  it('immediately gets a failed agent step if there is no language model, or if the account cannot pay', () => {
    for (const [isPaid, hasModel] of [
      [true, false],
      [false, true],
    ] as const) {
      const result = askedOrFinal(draftOf(), { ...wanted, agentStep, isPaid }, hasModel);
      expect('final' in result && JSON.parse(result.final.aiJson)).toMatchObject({
        status: 'failed',
        output: null,
      });
    }
  });

  it('waits for sentiment, a bucket and the agent step until 120 s after it occurred [readings.waits]', () => {
    const result = askedOrFinal(draftOf(), { ...wanted, agentStep, bucketPreset: 'custom' }, true);
    expect('asked' in result && result.asked).toMatchObject({
      deadline: '2026-03-04T05:08:07.089Z',
      analysis: true,
      bucketPreset: 'custom',
      agentStep: { instruction: 'Name it' },
    });
  });

  it('does not wait if its item is dropped', () => {
    expect(askedOrFinal(draftOf({ dropped: true }), { ...wanted, agentStep }, true)).toHaveProperty('final');
  });

  it('asks for no agent step if it is backfilled, because it is not pushed', () => {
    const result = askedOrFinal(draftOf({ backfilled: true }), { ...wanted, agentStep }, true);
    expect('asked' in result && result.asked.agentStep).toBeUndefined();
  });
});
