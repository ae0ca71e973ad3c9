import { SPEC_NOW } from '../../testing/fake-upstream.js';
import { parseSearchAnswer } from '../index.js';
import { ADA, answerOf, tweetRecord } from './fixtures.js';

// Only for specs: the item that Earshot makes from one tweet.

const GRACE = { id: '71002', username: 'GraceH', name: 'Grace', verified: false, verified_type: 'none' };

/** Returns the item of a tweet with these fields. `includes` are objects that the response includes in addition. */
export function one(more: Record<string, unknown> = {}, includes: Record<string, unknown> = {}) {
  const answer = answerOf([tweetRecord(1, SPEC_NOW, more)], {
    includes: { users: [ADA, GRACE], ...includes },
  });
  return parseSearchAnswer(answer).items[0];
}

/** Returns the body of the item that `one` returns, parsed from JSON. */
export function bodyOf(...more: Parameters<typeof one>) {
  return JSON.parse(one(...more)?.bodyJson ?? '{}') as Record<string, unknown>;
}
