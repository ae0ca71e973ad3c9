import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { problemType } from './ask.js';

/** Why X does not show a requested tweet or account. */
export type Failure = 'not_found' | 'protected' | 'suspended';

// Errors with other parameters concern accounts and tweets that the requested accounts and tweets refer to: a
// mention, a quoted tweet, a pinned tweet.
const ASKED_FOR = new Set(['id', 'ids', 'username', 'usernames']);

/**
 * Returns the requested tweets and accounts that a response with status 200 does not show, by id or requested name.
 * Errors about includes are ignored. An unknown error counts as `not_found`.
 */
export function failuresOf(answer: JsonRecord): Map<string, Failure> {
  const failures = new Map<string, Failure>();
  for (const entry of listOf(answer['errors']) ?? []) {
    const error = recordOf(entry);
    const asked = textOf(error?.['value']) ?? textOf(error?.['resource_id']);
    if (!error || asked === undefined) continue;
    if (error['section'] === 'includes' || !ASKED_FOR.has(textOf(error['parameter']) ?? '')) continue;
    failures.set(asked, failureOf(error));
  }
  return failures;
}

function failureOf(error: JsonRecord): Failure {
  if (problemType(error) === 'not-authorized-for-resource') return 'protected';
  // The error for a suspended account has the same type as the error for a missing account.
  const suspended =
    error['title'] === 'Forbidden' || textOf(error['detail'])?.startsWith('User has been suspended') === true;
  return suspended ? 'suspended' : 'not_found';
}
