import { createInbox, headers as natsHeaders, type Msg } from '@nats-io/nats-core';
import { JetStreamApiError, type ApiError } from '@nats-io/jetstream';
import type { Bus } from '#messaging';
import { isOutage } from '#outages';

/** A message that is to be stored in a stream. */
export interface Unstored {
  subject: string;
  data: Uint8Array;
  msgId: string;
  /** `traceparent` of the work that caused the message; default: the current work. The message continues its trace. */
  cause?: string | undefined;
  /**
   * The message is stored only if this is the sequence of its subject's last message (0: the subject has no message).
   */
  expectedSeq?: number;
}

/** JetStream's error code for a wrong expected last sequence of the subject. */
export const WRONG_LAST_SEQUENCE = 10071;

/**
 * Maximum time until the server answers. It is long, because a purge of a large stream stalls publishers for seconds.
 */
const ANSWERS_WITHIN_MS = 15_000;

/** The result of publishing a window of messages. */
export interface WindowResult<T> {
  /** Messages that the server refused for a reason that is not a conflict, and messages whose result is unknown. */
  unanswered: T[];
  /**
   * Messages with an `expectedSeq` that this call has not stored, because `expectedSeq` is wrong or because their id
   * was stored before.
   */
  conflicting: T[];
  /**
   * A reason for a message in `unanswered`: the text of the last refusal or error, or else that no answer came in time.
   * Without meaning if `unanswered` is empty.
   */
  fault: string;
  /**
   * True if the server refused at least one message for a reason that is neither a conflict nor an outage. False if all
   * messages in `unanswered` got no answer, or if the server cannot store anything now.
   */
  refused: boolean;
}

/**
 * Publishes messages to their streams, and waits at most `ANSWERS_WITHIN_MS` until the server has answered for each.
 * @param messages at least one: without messages, the call waits the whole time
 */
export function publishWindow<T extends Unstored>(
  { nc, inboxPrefix }: Bus,
  messages: readonly T[],
  traceparentOf: (message: T) => string | undefined,
): Promise<WindowResult<T>> {
  const inbox = createInbox(inboxPrefix);
  const open = new Map(messages.map((message, index) => [String(index), message]));
  const failed: T[] = [];
  const conflicting: T[] = [];
  let fault = 'no answer in time';
  let refused = false;
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve({ unanswered: [...failed, ...open.values()], conflicting, fault, refused });
    };
    const subscription = nc.subscribe(`${inbox}.*`, {
      callback(error, answer) {
        if (error) {
          fault = error.message;
          return finish();
        }
        const index = answer.subject.slice(inbox.length + 1);
        const message = open.get(index);
        if (!message) return;
        open.delete(index);
        const refusal = refusalIn(answer);
        if (refusal === 'conflict') {
          if (message.expectedSeq !== undefined) conflicting.push(message);
        } else if (refusal !== undefined) {
          failed.push(message);
          fault = refusal.reason;
          refused ||= !refusal.isOutage;
        }
        if (open.size === 0) finish();
      },
    });
    // The timer starts after the subscription, because the subscription throws if the connection is closed.
    const timer = setTimeout(finish, ANSWERS_WITHIN_MS);
    for (const [index, message] of open) {
      const { subject, data, msgId, expectedSeq } = message;
      const traceparent = traceparentOf(message);
      const headers = natsHeaders();
      headers.set('Nats-Msg-Id', msgId);
      if (expectedSeq !== undefined) headers.set('Nats-Expected-Last-Subject-Sequence', String(expectedSeq));
      if (traceparent) headers.set('traceparent', traceparent);
      nc.publish(subject, data, { reply: `${inbox}.${index}`, headers });
    }
  });
}

interface ServerRefusal {
  reason: string;
  /**
   * True if the stream does not exist or has no leader, or the server is starting or lacks resources. The message itself
   * is not at fault.
   */
  isOutage: boolean;
}

/**
 * Reads an answer: `{"stream": …, "seq": …}` or an error; 503 if no stream has the subject.
 * @returns undefined if the message is stored
 */
function refusalIn(answer: Msg): ServerRefusal | 'conflict' | undefined {
  if (answer.headers?.code === 503) return { reason: 'no stream has this subject', isOutage: true };
  const { error, stream, duplicate } = JSON.parse(answer.string()) as {
    stream?: string;
    duplicate?: boolean;
    error?: ApiError;
  };
  if (duplicate || error?.err_code === WRONG_LAST_SEQUENCE) return 'conflict';
  if (error) return { reason: error.description, isOutage: isOutage(new JetStreamApiError(error)) };
  return stream ? undefined : { reason: 'an answer that is no acknowledgement', isOutage: false };
}
