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
  if (error instanceof EarshotError) {
    const { message, details, status, requestId } = error;
    return { message, faults: details, ...(status >= 500 && { requestId }) };
  }
  if (error instanceof EarshotConnectionError)
    return { message: 'Earshot cannot be reached. Check the connection and try again.', faults: [] };
  return { message: error instanceof Error ? error.message : String(error), faults: [] };
}
