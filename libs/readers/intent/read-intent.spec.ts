import type { Intent } from '#contracts';
import { readingOf, requestOf } from '../testing/requests.js';

const CASES: readonly [Intent, string][] = [
  ['buy_intent', "I'm going to buy an Acme tomorrow"],
  ['buy_intent', 'Thinking about getting the Acme for my daughter'],
  ['buy_intent', 'Where can I buy an Acme in Lisbon?'],
  ['buy_intent', "I can't wait to get my new Acme"],
  ['churn_risk', 'Just cancelled my Acme subscription after five years'],
  ['churn_risk', 'We are switching from Acme to Globex next month'],
  ['churn_risk', 'How do I cancel my Acme account?'],
  ['churn_risk', "I'm done with Acme"],
  ['recommendation_request', 'Can anyone recommend a good project tool?'],
  ['recommendation_request', 'Looking for an alternative to Acme'],
  ['recommendation_request', 'What is the best CRM for a small team?'],
  ['comparison', 'Acme vs Globex after a year of use'],
  ['comparison', 'Acme is faster than Globex on my laptop'],
  ['feature_request', 'Please add dark mode to Acme'],
  ['feature_request', 'It would be great if Acme could export to PDF'],
  ['bug_report', 'Found a bug in Acme: the list is empty after a reload'],
  ['bug_report', 'Acme keeps crashing on my phone'],
  ['support_request', 'Acme will not let me in, please help me with my account'],
  ['product_question', 'Does Acme work without internet?'],
  ['promotion', 'Get 20% off Acme today with code SAVE20'],
  ['promotion', 'Enter to win an Acme bundle! Link in bio'],
];

describe('the intent of a post', () => {
  it.each(CASES)('is %s, with the matched phrase as its reason: "%s"', (intent, text) => {
    const reading = readingOf(requestOf(text));
    expect(reading).toMatchObject({ intent, intentReason: expect.stringMatching(/^“.+”$/) as string });
  });

  it.each<[Intent, string]>([
    ['buy_intent', "I don't want to buy an Acme"],
    ['buy_intent', 'Nobody should buy an Acme'],
    ['churn_risk', 'I would never leave Acme for anything'],
    ['recommendation_request', 'I highly recommend Acme to everyone'],
    ['bug_report', 'Acme fixed a lot of bugs in this release'],
    ['support_request', 'Acme was built to help people'],
  ])(
    'is not %s if the text denies this intent, or uses its words for something else: "%s"',
    (intent, text) => {
      expect(readingOf(requestOf(text)).intent).not.toBe(intent);
    },
  );

  it.each([
    'Are you going to Acme tomorrow?',
    'Acme, really?',
    'Was the Acme sale a big hit? Read more at http://example.com/a',
    'Acme opens a shop in Rome. Who would have thought?',
  ])('is not a product question if the text does not ask about the product itself: "%s"', (text) => {
    expect(readingOf(requestOf(text)).intent).not.toBe('product_question');
  });

  it.each([
    "I can't watch the game, I am at Acme",
    "Still can't get over Acme being closed",
    'You will be able to buy the Acme in shops',
  ])('is no request for support or for a feature if the text requests nothing: "%s"', (text) => {
    expect(['support_request', 'feature_request']).not.toContain(readingOf(requestOf(text)).intent);
  });

  it('is read from software terms if the source is about software', () => {
    const issue = (title: string, text: string) => {
      const request = requestOf(text, {}, 'github');
      return readingOf({ ...request, item: { ...request.item, title } }).intent;
    };
    expect(
      issue('Crash when the list is empty', 'Steps to reproduce: open it. Expected behavior: no crash.'),
    ).toBe('bug_report');
    expect(issue('Add support for dark mode', 'It would be nice to have it.')).toBe('feature_request');
    expect(issue('How to use two accounts?', 'Is there a way to do this?')).toBe('product_question');
  });

  it('is read with the general rules for comments on issues', () => {
    const request = requestOf('Thank you, works great now, I love it!', {}, 'github');
    const item = { ...request.item, title: 'Crash when the list is empty', titleOfParent: true };
    expect(readingOf({ ...request, item }).intent).toBe('praise');
  });

  it('has a reason with the name of the subject as written in the text', () => {
    expect(readingOf(requestOf('We are leaving ACME for Globex')).intentReason).toBe('“leaving ACME for”');
  });

  it('is praise or complaint if only the sentiment is clear, and `other` if nothing is clear', () => {
    expect(readingOf(requestOf('I love Acme, wonderful, the best ever!')).intent).toBe('praise');
    expect(readingOf(requestOf('Acme is horrible, I hate it, awful trash')).intent).toBe('complaint');
    expect(readingOf(requestOf('Acme opened an office in Lisbon on Tuesday')).intent).toBe('other');
  });
});
