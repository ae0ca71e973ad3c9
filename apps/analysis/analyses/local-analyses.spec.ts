import fc from 'fast-check';
import { classify } from './classify.js';
import { group, type MentionWithVector } from './group.js';
import { summaryOf, mean, pointsOf, sentencesOf } from './summarise.js';

/** Returns a unit vector in a plane, from its angle in degrees. */
const at = (degrees: number) =>
  Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));
const mention = (id: string, degrees: number, text = `text ${id}`): MentionWithVector => ({
  id,
  text,
  vector: at(degrees),
});

describe('groups of mentions', () => {
  it('contain mentions of similar meaning, and have labels from the words of these mentions', () => {
    const found = group([
      mention('a', 0, 'The battery is empty'),
      mention('b', 5, 'Empty battery again'),
      mention('c', 100, 'Delivery took weeks'),
      mention('d', 105, 'Late delivery'),
      mention('e', 110, 'No delivery yet'),
      mention('f', 220, 'Nice colour'),
    ]);
    expect(found.map(({ mentionIds }) => mentionIds.sort())).toEqual([['c', 'd', 'e'], ['a', 'b'], ['f']]);
    expect(found.map(({ key, label }) => [key, label])).toEqual([
      ['delivery', 'delivery'],
      [expect.stringMatching(/battery/), expect.stringMatching(/battery/)],
      ['other', 'Other'],
    ]);
  });

  it('are labelled with the most frequent topic of their mentions, if a language model named topics', () => {
    const about = (id: string, degrees: number, topic: string) => ({ ...mention(id, degrees), topic });
    const found = group([
      about('a', 0, 'Late deliveries'),
      about('b', 5, 'Late delivery'),
      about('c', 0, 'Late deliveries'),
      about('d', 90, 'Broken lid'),
      mention('e', 92),
    ]);
    expect(found.map(({ key, label, mentionIds }) => [key, label, mentionIds.sort()])).toEqual([
      ['late-delivery', 'Late deliveries', ['a', 'b', 'c']],
      ['broken-lid', 'Broken lid', ['d', 'e']],
    ]);
  });

  it('are labelled with the beginning of their first mention if their mentions share no word; an emoji that does not fit is left out', () => {
    const found = group([mention('a', 0, `${'x'.repeat(55)}👩‍👩‍👧‍👦 lamp`), mention('b', 5, 'desk')]);
    expect(found.map(({ label }) => label)).toEqual(['x'.repeat(55)]);
  });

  it('contain each mention only once, and have unique keys', () => {
    // "Version" and "version!" give the same key. "Other" gives the key of the last group. The keys of "Version 2" and
    // "Other 2" look like keys to which `group` has added a number.
    const topic = fc.constantFrom(undefined, 'Version', 'version!', 'Version 2', 'Other', 'Other 2');
    const placed = fc.array(fc.record({ degrees: fc.integer({ min: 0, max: 359 }), topic }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(placed, (all) => {
        const found = group(
          all.map(({ degrees, topic: named }, n) => ({
            ...mention(String(n), degrees, 'the same words'),
            topic: named,
          })),
        );
        expect(found.flatMap(({ mentionIds }) => mentionIds).sort()).toEqual(
          all.map((_, n) => String(n)).sort(),
        );
        expect(new Set(found.map(({ key }) => key)).size).toBe(found.length);
      }),
    );
  });

  it('keep the key "other" for the mentions that are not similar to others, even if a topic has this name', () => {
    const about = (id: string, degrees: number) => ({ ...mention(id, degrees), topic: 'Other' });
    const found = group([about('a', 0), about('b', 5), mention('c', 180)]);
    expect(found.map(({ key, mentionIds }) => [key, mentionIds.sort()])).toEqual([
      ['other-2', ['a', 'b']],
      ['other', ['c']],
    ]);
  });
});

describe('the class of a mention', () => {
  it('is the class whose name is nearest in meaning to the mention', () => {
    const found = classify([mention('a', 10), mention('b', 80)], ['x', 'y'], [at(0), at(90)]);
    expect(found.map((one) => [one.mentionId, one.class])).toEqual([
      ['a', 'x'],
      ['b', 'y'],
    ]);
    for (const { confidence } of found) expect(confidence).toBeGreaterThan(0.9);
    expect(classify([mention('c', 45)], ['x', 'y'], [at(0), at(90)])[0]?.confidence).toBeCloseTo(0.5, 2);
  });

  it('is one of the classes whose name has a vector; the other classes do not change the confidence', () => {
    const found = classify([mention('a', 0), mention('b', 180)], ['w', 'x', 'y'], [undefined, at(0), at(90)]);
    expect(found.map((one) => [one.mentionId, one.class])).toEqual([
      ['a', 'x'],
      ['b', 'y'],
    ]);
    for (const { confidence } of found) expect(confidence).toBeGreaterThan(0.9);
  });
});

describe('a summary', () => {
  const sentence = (mentionId: string, degrees: number, text = `sentence of ${mentionId}`) => ({
    mentionId,
    text,
    vector: at(degrees),
  });

  it('cites every mention that contains a similar sentence, and repeats no sentence', () => {
    const sentences = [
      sentence('a', 0),
      sentence('b', 5),
      sentence('c', 10),
      sentence('d', 90),
      sentence('d', 92),
    ];
    const points = pointsOf(4, sentences, mean([at(0), at(30), at(60), at(90)]));
    expect(points.map(({ wordings }) => wordings.length).sort()).toEqual([1, 3]);
    const found = summaryOf(points);
    expect(found.sentences.map(({ mentionIds }) => [...mentionIds].sort())).toEqual(
      expect.arrayContaining([['a', 'b', 'c'], ['d']]),
    );
    expect(found.sentences.length).toBe(2);
    expect(found.text).toBe(found.sentences.map(({ text }) => text).join(' '));
  });

  it('begins with the sentence that is most similar in meaning to the given vector', () => {
    const found = pointsOf(3, [sentence('a', 0), sentence('b', 30), sentence('c', 90)], at(90));
    expect(found[0]?.mentionIds[0]).toBe('c');
  });

  it('is refused if one of its sentences cites no mention, or if it has no sentences [analyses.results]', () => {
    expect(() => summaryOf([{ text: 'Everybody is happy.', mentionIds: [] }])).toThrow(
      'the summary is empty, or one of its sentences cites no mention',
    );
    expect(() => summaryOf([])).toThrow('the summary is empty, or one of its sentences cites no mention');
    expect(summaryOf([{ text: 'So it is.', mentionIds: ['a'] }]).text).toBe('So it is.');
  });

  it('uses sentences with 15 to 400 characters, or else the first 400 characters of the first sentence of a mention', () => {
    expect(sentencesOf('It broke on the first day. 👍\n\nThe shop does not answer my mails!')).toEqual([
      'It broke on the first day.',
      'The shop does not answer my mails!',
    ]);
    expect(sentencesOf('Nope')).toEqual(['Nope']);
    expect(sentencesOf(' 12 -- 👍 ')).toEqual([]);
    expect(sentencesOf('x'.repeat(100_000))[0]?.length).toBe(400);
  });

  it('never contains a part of an emoji where a long sentence or a long text was cut', () => {
    const family = '👩‍👩‍👧‍👦';
    expect(sentencesOf('x'.repeat(395) + family + 'x'.repeat(100))).toEqual(['x'.repeat(395)]);
    const last = 'It broke on the first day '.padEnd(38, '!');
    expect(sentencesOf(`${'y'.repeat(3_958)}. ${last}${family}`)).toEqual([last]);
  });
});
