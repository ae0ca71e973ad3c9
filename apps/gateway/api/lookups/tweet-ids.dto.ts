import { ArrayMaxSize, ArrayMinSize, IsArray, IsString } from 'class-validator';
import { Refusal } from '#kernel';
import { Elements } from '../../http/validators.js';

const MAX_IDS = 100;
const TWEET_ID = /^\d{1,19}$/;

/** The body of a lookup of tweets by their ids. */
export class TweetIdsDto {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_IDS)
  @IsString({ each: true })
  @Elements((id) => (typeof id === 'string' ? tweetIdFault(id) : undefined), {
    type: 'string',
    pattern: TWEET_ID.source,
  })
  ids!: string[];
}

/**
 * Returns the ids without duplicates and empty texts, in the given order.
 * @throws Refusal `invalid` unless 1 to 100 ids remain and each id consists of 1 to 19 digits
 */
export function tweetIdsOf(given: readonly string[]): string[] {
  const ids = [...new Set(given.filter((id) => id !== ''))];
  if (ids.length < 1 || ids.length > MAX_IDS)
    throw Refusal.validation([{ path: 'ids', message: `must name 1 to ${MAX_IDS} tweets` }]);
  const faults = ids.flatMap((id, n) => {
    const message = tweetIdFault(id);
    return message === undefined ? [] : [{ path: `ids[${n}]`, message }];
  });
  if (faults.length > 0) throw Refusal.validation(faults);
  return ids;
}

function tweetIdFault(id: string): string | undefined {
  return TWEET_ID.test(id) ? undefined : 'must be the id of a tweet: up to 19 digits';
}
