import { EarshotConnectionError, EarshotError, type Fault } from '../../../clients/typescript/src/index.js';

/** An error in the words for people. */
export interface Described {
  message: string;
  faults: readonly Fault[];
  /** Under which the operator finds the error; undefined where the message already says what to do. */
  requestId?: string | undefined;
}

/** A refusal says itself what is wrong; only a failure of Earshot needs the id of its request. */
export function described(error: unknown): Described {
  if (error instanceof EarshotError) {
    const { message, details, status, requestId } = error;
    return { message, faults: details, ...(status >= 500 && { requestId }) };
  }
  if (error instanceof EarshotConnectionError)
    return { message: 'Earshot cannot be reached. Check the connection and try again.', faults: [] };
  return { message: error instanceof Error ? error.message : String(error), faults: [] };
}
