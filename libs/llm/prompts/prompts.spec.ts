import fc from 'fast-check';
import { INTENTS, SENTIMENTS } from '#contracts';
import { agentStepReading, type AgentStepFields } from './agent-step.js';
import { analysisReading } from './analysis.js';
import { bucketReading } from './bucket.js';
import { asLlmItem } from './item.js';

const subject = { names: ['Acme', 'acme kettle'], role: 'own', about: '' } as const;
const analysis = {
  sentiment: 'positive',
  sentimentScore: 0.5,
  sentimentReason: '"love it"',
  intent: 'praise',
  intentReason: '"love it"',
};
const anything = fc.anything({ withNullPrototype: true });

describe('the reading of sentiment and intent', () => {
  const { check } = analysisReading(subject);

  it('accepts every sentiment with every intent', () => {
    for (const sentiment of SENTIMENTS)
      for (const intent of INTENTS) {
        const answer = { ...analysis, sentiment, intent, sentimentScore: 0 };
        expect(check(answer)).toEqual({ value: answer });
      }
  });

  it.each([
    [{ ...analysis, sentiment: 'splendid' }, 'sentiment'],
    [{ ...analysis, sentimentScore: 1.5 }, 'sentimentScore'],
    [{ ...analysis, sentimentScore: '0.5' }, 'sentimentScore'],
    [{ ...analysis, sentimentScore: -0.5 }, 'contradicts'],
    [{ ...analysis, intentReason: 'x'.repeat(301) }, 'intentReason'],
    [{ ...analysis, extra: true }, 'additional'],
    [{ sentiment: 'positive' }, 'required'],
    [null, 'object'],
    ['positive', 'object'],
  ])('refuses %j and explains the reason to the model', (answer, why) => {
    expect(check(answer)).toEqual({ fault: expect.stringContaining(why) });
  });

  it('refuses generated values of any other form', () => {
    fc.assert(
      fc.property(anything, (answer) => {
        expect(check(answer)).toHaveProperty('fault');
      }),
    );
  });

  it('asks for the stance toward a subject, and for the mood if the subject is a topic', () => {
    const instructionsFor = (role: 'own' | 'competitor' | 'topic') =>
      analysisReading({ ...subject, role }).instructions;
    expect(instructionsFor('own')).toContain('our own brand');
    expect(instructionsFor('competitor')).toContain("a competitor's brand");
    expect(instructionsFor('topic')).toContain('the mood of the text itself');
  });

  it('writes names and the user’s description as JSON strings, which quotes and line breaks cannot end', () => {
    const { instructions } = analysisReading({ ...subject, names: ['A"\nB'], about: 'kettles\n"only"' });
    expect(instructions).toContain('"A\\"\\nB"');
    expect(instructions).toContain('"kettles\\n\\"only\\""');
  });
});

describe('the reading of buckets', () => {
  it('accepts a label or null, and a sentiment only for themes', () => {
    const { check } = bucketReading('custom', { ...subject, about: 'billing or shipping' });
    expect(check({ label: 'billing' })).toEqual({ value: { label: 'billing' } });
    expect(check({ label: null })).toEqual({ value: { label: null } });
    expect(check({ label: 'billing', sentiment: 'negative' })).toHaveProperty('fault');
    expect(check({ label: '  ' })).toHaveProperty('fault');
    expect(check({ label: 'x'.repeat(61) })).toHaveProperty('fault');
    const themes = bucketReading('theme-sentiment', subject);
    expect(themes.check({ label: 'battery', sentiment: 'negative' })).toHaveProperty('value');
    expect(themes.check({ label: 'battery' })).toHaveProperty('fault');
  });

  it('contains the rule of a custom bucket as one quoted value', () => {
    const { instructions } = bucketReading('custom', { ...subject, about: 'a\n"b"' });
    expect(instructions).toContain('"a\\n\\"b\\""');
  });
});

const FIELDS: AgentStepFields = {
  product: { type: 'string', maxLength: 5 },
  note: { type: 'string', description: 'what they say' },
  price: { type: 'number' },
  urgent: { type: 'boolean' },
  mood: { type: 'enum', values: ['good', 'bad'] },
};
const OUTPUT = { product: 'Acme', note: 'x', price: 12.5, urgent: false, mood: 'good' };

describe('the reading of an agent step', () => {
  const { check, schema, instructions } = agentStepReading('Find the product.', FIELDS);

  it('accepts values of the declared types, and null in every field', () => {
    expect(check(OUTPUT)).toEqual({ value: OUTPUT });
    const nothing = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, null]));
    expect(check(nothing)).toEqual({ value: nothing });
  });

  it('returns the fields in the order of the schema, whatever the order of the answer', () => {
    const reversed = Object.fromEntries(Object.entries(OUTPUT).reverse());
    expect(JSON.stringify(check(reversed))).toBe(JSON.stringify({ value: OUTPUT }));
  });

  it.each([
    [{ ...OUTPUT, product: 'kettle' }, 'at most 5 characters'],
    [{ ...OUTPUT, note: 'x'.repeat(2_001) }, 'at most 2000 characters'],
    [{ ...OUTPUT, price: '12' }, 'must be a number'],
    [{ ...OUTPUT, urgent: 'false' }, 'must be true, false or null'],
    [{ ...OUTPUT, mood: 'splendid' }, 'must be one of ["good","bad"], or null'],
    [{ ...OUTPUT, mood: ['good'] }, 'must be one of'],
    [{ ...OUTPUT, verdict: 'good' }, 'has no field "verdict"'],
    [{ product: 'Acme' }, 'lacks "note"'],
    [[OUTPUT], 'is not an object'],
    [null, 'is not an object'],
    ['good', 'is not an object'],
  ])('refuses %j', (answer, why) => {
    expect(check(answer)).toEqual({ fault: expect.stringContaining(why) });
  });

  it('counts an emoji as one character of the maximum length', () => {
    expect(check({ ...OUTPUT, product: '👋👋👋👋👋' })).toHaveProperty('value');
    expect(check({ ...OUTPUT, product: '👋👋👋👋👋👋' })).toHaveProperty('fault');
  });

  it('refuses generated values of any other form', () => {
    fc.assert(
      fc.property(anything, (answer) => {
        expect(check(answer)).toHaveProperty('fault');
      }),
    );
  });

  it('accepts and returns fields that have unusual names', () => {
    const names = ['__proto__', 'constructor', 'toString', '', 'n', '$ref', 'a.b'];
    const fields = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const step = agentStepReading('Read.', fields);
    const answer = JSON.parse(
      JSON.stringify(Object.fromEntries(names.map((name) => [name, 'x']))),
    ) as unknown;
    expect(JSON.stringify(step.check(answer))).toBe(JSON.stringify({ value: answer }));
    expect(step.check({})).toHaveProperty('fault');
    expect(Object.keys((step.schema as { properties: object }).properties)).toEqual(names);
  });

  it('sends the types, descriptions, enum values and maximum lengths to the model', () => {
    expect(schema).toEqual({
      type: 'object',
      properties: {
        product: { type: ['string', 'null'], maxLength: 5 },
        note: { description: 'what they say', type: ['string', 'null'], maxLength: 2000 },
        price: { type: ['number', 'null'] },
        urgent: { type: ['boolean', 'null'] },
        mood: { type: ['string', 'null'], enum: ['good', 'bad', null] },
      },
      required: Object.keys(FIELDS),
      additionalProperties: false,
    });
    expect(instructions).toContain('Find the product.');
  });
});

describe('an item for the model', () => {
  it('contains only parts that are not empty, and stays valid Unicode if its text is cut', () => {
    const item = { source: 'reddit', kind: 'post', title: '', text: 'ab👋👋', author: 'ada', community: '' };
    expect(asLlmItem(item, 3)).toEqual({ source: 'reddit', kind: 'post', author: 'ada', text: 'ab\uFFFD…' });
    expect(asLlmItem(item, 6)).toMatchObject({ text: 'ab👋👋' });
  });
});
