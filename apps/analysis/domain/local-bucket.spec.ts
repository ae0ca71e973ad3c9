import fc from 'fast-check';
import type { BucketPreset } from '#contracts';
import { bucketKey, localBucket, type BucketInput } from './local-bucket.js';

const input = (text: string, more: Partial<BucketInput> = {}): BucketInput => ({
  item: { source: 'reddit', title: '', text, bodyJson: '{}' } as BucketInput['item'],
  sentiment: '',
  names: ['iPhone', 'Galaxy'],
  story: undefined,
  ...more,
});
const keyOf = (preset: BucketPreset, given: BucketInput) => localBucket(preset, given)?.key;

describe('the key of a bucket', () => {
  it.each([
    ['iPhone 15 pro', 'iphone15 Pro'],
    ['Galaxy S24-Ultra', 'galaxy s24 ultra'],
    ['Pokémon', 'POKEMON'],
    ['  Price:  negative ', 'price negative'],
  ])('is the same for %j and %j', (a, b) => {
    expect(bucketKey(a)).toBe(bucketKey(b));
  });

  it('differs if the number differs', () => {
    expect(bucketKey('iPhone 15')).not.toBe(bucketKey('iPhone 16'));
  });

  it('does not end with half a character if the name is longer than the key', () => {
    expect(bucketKey(`${'a'.repeat(79)}𠀋`)).toBe('a'.repeat(79));
  });

  it('is the same if the key itself is used as the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) =>
        expect(bucketKey(bucketKey(name))).toBe(bucketKey(name)),
      ),
    );
  });
});

describe('the preset product-model', () => {
  it.each([
    ['My iPhone 15 Pro gets hot', 'iphone-15-pro'],
    ['my iphone15 Pro gets hot', 'iphone-15-pro'],
    ['The Galaxy S24 Ultra is here.', 'galaxy-s-24-ultra'],
    ['Galaxy is nice. My Galaxy S24 Ultra is better.', 'galaxy-s-24-ultra'],
    ['İİİİİİ bought a Galaxy S24 Ultra', 'galaxy-s-24-ultra'],
  ])('finds the model in %j', (text, key) => {
    expect(keyOf('product-model', input(text))).toBe(key);
  });

  it('finds the model after a name with İ if the text contains İ, i + U+0307 or I + U+0307', () => {
    for (const text of ['My \u0130phone S24', 'my i\u0307phone S24', 'My I\u0307phone S24'])
      expect(keyOf('product-model', input(text, { names: ['\u0130phone'] }))).toBe('iphone-s-24');
  });

  it.each([
    'I bought an iPhone in 2 shops',
    'The iPhone is great',
    'The Pixel 8 is great',
    'iPhone, 15 people came',
  ])('finds no model of the keyword’s products in %j', (text) => {
    expect(localBucket('product-model', input(text))).toBeUndefined();
  });
});

describe('the preset theme-sentiment', () => {
  it('joins the theme and the sentiment', () => {
    const given = input('It became far too expensive', { sentiment: 'negative' });
    expect(localBucket('theme-sentiment', given)).toEqual({
      key: 'price-negative',
      label: 'Price: negative',
    });
  });

  it('gives no bucket without a sentiment, or without a known theme', () => {
    expect(localBucket('theme-sentiment', input('too expensive'))).toBeUndefined();
    expect(localBucket('theme-sentiment', input('Hello', { sentiment: 'neutral' }))).toBeUndefined();
  });
});

describe('the preset', () => {
  it('`seller` groups items by source and author', () => {
    const item = { ...input('').item, source: 'vinted', author: 'Ada_L', authorName: 'Ada' };
    expect(localBucket('seller', { ...input(''), item })).toEqual({ key: 'vinted-ada-l', label: 'Ada' });
  });

  it('`duplicates` puts the second and later items of a story into a bucket, but not the first', () => {
    const story = { storyId: 's', isRepeated: true };
    expect(localBucket('duplicates', input('A  story', { story }))).toEqual({ key: 's', label: 'A story' });
    expect(
      localBucket('duplicates', input('A story', { story: { ...story, isRepeated: false } })),
    ).toBeUndefined();
  });

  it('`duplicates` never cuts a long label inside an emoji', () => {
    const story = { storyId: 's', isRepeated: true };
    const found = localBucket('duplicates', input(`${'a'.repeat(75)}👩‍👩‍👧‍👦 more`, { story }));
    expect(found?.label).toBe('a'.repeat(75));
  });

  it('`custom` gives no bucket, because it needs a language model', () => {
    expect(localBucket('custom', input('anything'))).toBeUndefined();
  });

  it('`product-model`, `theme-sentiment`, `seller` or `duplicates` gives a generated text a key of at most 100 characters, or no bucket', () => {
    const presets = fc.constantFrom<BucketPreset>('product-model', 'theme-sentiment', 'seller', 'duplicates');
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        presets,
        (text, name, preset) => {
          const found = localBucket(preset, input(text, { names: [name], sentiment: 'mixed' }));
          expect(found === undefined || found.key.length <= 100).toBe(true);
        },
      ),
    );
  });
});
