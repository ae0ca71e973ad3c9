import type { ReadItem } from '../reading.js';
import { readingOf, requestOf } from '../testing/requests.js';

const read = (name: string, text: string, about?: string, item: Partial<ReadItem> = {}) => {
  const request = requestOf(text, { names: [name], ...(about !== undefined && { about }) });
  return readingOf({ ...request, analysis: false, item: { ...request.item, ...item } });
};

describe('relevance', () => {
  it('is low for a homonym, with its other meaning as the reason', () => {
    expect(read('apple', 'Baked my first apple pie, with cinnamon and fruit from our orchard')).toMatchObject(
      {
        relevance: expect.any(Number) as number,
        reason: expect.stringMatching(/^the fruit .*, not the company$/) as string,
      },
    );
    expect(
      read('apple', 'Baked my first apple pie, with cinnamon and fruit from our orchard').relevance,
    ).toBeLessThan(30);
  });

  it('is low for a surname, with the surname as the reason', () => {
    const { relevance, reason } = read('ford', 'We met Christine Ford at dinner');
    expect([relevance < 50, reason]).toEqual([true, "a person's surname: “Christine Ford”"]);
  });

  it('is high for the company, with words near its name as the reason', () => {
    const { relevance, reason } = read('delta', 'Delta lost my luggage and cancelled the flight');
    expect(relevance).toBeGreaterThan(70);
    expect(reason).toMatch(/luggage|flight/);
  });

  it('is high for a name without another meaning', () => {
    expect(read('posthog', 'tried posthog yesterday')).toMatchObject({
      relevance: expect.any(Number) as number,
      reason: 'names “posthog”, which has no other common meaning',
    });
    expect(read('posthog', 'tried posthog yesterday').relevance).toBeGreaterThan(80);
  });

  it('is lower if the description of the keyword excludes the subject of the text, and higher if it names this subject', () => {
    const text = 'The harvest started early because of the heat';
    const plain = read('harvest', text).relevance;
    expect(read('harvest', text, 'time tracking software, not crops, wine or heat').relevance).toBeLessThan(
      plain,
    );
    expect(read('harvest', text, 'posts about farming, crops and heat').relevance).toBeGreaterThan(plain);
  });

  it('has the words that the description excludes as the reason', () => {
    const { reason } = read(
      'anchor',
      'We dropped anchor in the bay',
      'the podcast app. Ignore ships and bay.',
    );
    expect(reason).toBe('the description of the keyword excludes it: “bay”');
  });

  it('is higher if the text links to a site with the name in its address', () => {
    const text = 'look at this target https://www.target.com/p/lamp';
    expect(read('target', text).relevance).toBeGreaterThan(read('target', 'look at this target').relevance);
  });

  it.each(['$ford', '$ford at 12', 'up: $ford.', '($ford)', '“$ford”, again', '$FORD!'])(
    'counts the name after a dollar sign as a handle in %j',
    (text) => {
      expect(read('ford', text).reason).toBe('addresses $ford');
    },
  );

  it.each(['$fordham', '$ford_x', '$ford2'])(
    'does not count the beginning of a longer name after a dollar sign as a handle in %j',
    (text) => {
      expect(read('ford', text).reason).not.toMatch(/^addresses/);
    },
  );

  it('is lower for a name in the title of the thread than for a name in the text', () => {
    const inThread = read('posthog', 'same here', undefined, {
      title: 'PostHog is down',
      titleOfParent: true,
    });
    expect(inThread.relevance).toBeLessThan(read('posthog', 'PostHog is down here').relevance);
  });

  it('is a whole number of at most 100', () => {
    for (const text of ['', 'apple', 'apple '.repeat(700), 'APPLE PIE'])
      expect([Number.isInteger(read('apple', text).relevance), read('apple', text).relevance <= 100]).toEqual(
        [true, true],
      );
  });
});
