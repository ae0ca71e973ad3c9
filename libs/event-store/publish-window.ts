import { createInbox, headers as natsHeaders, type Msg } from '@nats-io/nats-core';
import type { Bus } from '#messaging';

/** A message that is to be stored in a stream. */
export interface Unstored {
  subject: string;
  data: Uint8Array;
  msgId: string;
  /** `traceparent` of the step that caused the message, by default the running one. It becomes a header. */
  cause?: string | undefined;
}

/** A purge of a large stream stalls publishers for seconds. */
const ANSWERS_WITHIN_MS = 15_000;

/** The result of publishing a window of messages. */
export interface WindowResult {
  /** Messages that were not stored, or whose result is unknown. */
  unanswered: Unstored[];
  /** The reason, in the words of the server. */
  fault: string;
  /**
   * True: the server answered and refused at least one message. False: it did not answer, or cannot store anything now.
   */
  refused: boolean;
}

/** Publishes messages to their streams and waits until the server has answered for each. */
export function publishWindow(
  { nc, inboxPrefix }: Bus,
  messages: readonly Unstored[],
  traceparentOf: (message: Unstored) => string | undefined,
): Promise<WindowResult> {
  const inbox = createInbox(inboxPrefix);
  const open = new Map(messages.map((message, index) => [String(index), message]));
  const failed: Unstored[] = [];
  let fault = 'no answer in time';
  let refused = false;
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve({ unanswered: [...failed, ...open.values()], fault, refused });
    };
    const timer = setTimeout(finish, ANSWERS_WITHIN_MS);
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
        if (refusal !== undefined) {
          failed.push(message);
          fault = refusal.reason;
          refused ||= !refusal.isOutage;
        }
        if (open.size === 0) finish();
      },
    });
    for (const [index, message] of open) {
      const { subject, data, msgId } = message;
      const traceparent = traceparentOf(message);
      const headers = natsHeaders();
      headers.set('Nats-Msg-Id', msgId);
      if (traceparent) headers.set('traceparent', traceparent);
      nc.publish(subject, data, { reply: `${inbox}.${index}`, headers });
    }
  });
}

interface ServerRefusal {
  reason: string;
  /** True if JetStream has no leader, no resources or is starting. Then the message itself is not at fault. */
  isOutage: boolean;
}

/** The server answers `{"stream": …, "seq": …}` or an error, and 503 when no stream has the subject. */
function refusalIn(answer: Msg): ServerRefusal | undefined {
  if (answer.headers?.code === 503) return { reason: 'no stream takes the message', isOutage: true };
  const { error, stream } = JSON.parse(answer.string()) as {
    stream?: string;
    error?: { code?: number; description?: string };
  };
  if (error) return { reason: error.description ?? 'refused', isOutage: error.code === 503 };
  return stream ? undefined : { reason: 'an answer that is no acknowledgement', isOutage: false };
}
