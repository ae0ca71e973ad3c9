import { EarshotConnectionError, EarshotError, type Fault } from '../../../clients/typescript/src/index.js';

/** The texts that the page shows for an error. */
export interface ErrorText {
  message: string;
  faults: readonly Fault[];
  /**
   * The id with which the operator finds the error in the log; undefined if the message already explains what to do.
   */
  requestId?: string | undefined;
}

/**
 * Returns the texts for an error. The message of a refusal says what to change. Only a failure of Earshot needs the id
 * of the request.
 */
export function errorText(error: unknown): ErrorText {
  if (mayHaveSucceeded(error)) return { message: UNKNOWN_OUTCOME, faults: [] };
  if (error instanceof EarshotError) {
    const { message, details, status, code, requestId } = error;
    if (code === 'UNKNOWN' && status < 400) return { message: ANOTHER_SERVER, faults: [] };
    return { message, faults: details, ...(status >= 500 && { requestId }) };
  }
  if (error instanceof EarshotConnectionError)
    return { message: 'Earshot cannot be reached. Check the connection and try again.', faults: [] };
  return { message: error instanceof Error ? error.message : String(error), faults: [] };
}

/** A redirect, or a web page instead of data. For example, a proxy before Earshot has its own sign-in. */
const ANOTHER_SERVER =
  'Another server answered instead of Earshot, for example because you must sign in to your network again. Reload the page.';

const UNKNOWN_OUTCOME =
  'Earshot did not answer. Check the connection. Earshot can have carried out the request all the same, so look at the result before you try again.';

/** `IDEMPOTENCY_IN_PROGRESS` is the answer to a repeated request while its first attempt, which timed out, is running. */
const mayHaveSucceeded = (error: unknown) =>
  error instanceof EarshotError
    ? error.code === 'IDEMPOTENCY_IN_PROGRESS'
    : error instanceof EarshotConnectionError && error.canHaveHadEffect;
