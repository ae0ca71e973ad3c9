import { OutboundError, type OutboundDispatcher } from '#http-out';
import { continueTrace } from '#telemetry';
import { retryAfterMsOf } from '../channels/chat-response.js';
import { signatureHeaders } from './signature.js';
import type { AttemptCallback, Delivery } from './delivery.js';

/** Maximum time for the whole request: DNS, connection, sending, response. */
const DEADLINE_MS = 10_000;
const RESPONSE_BYTES = 64 * 1024;

/**
 * Makes one attempt.
 * @param callback called exactly once: with the attempt, even if the attempt failed, or with an error after a defect of
 *   Earshot
 */
export function sendWebhook(http: OutboundDispatcher, delivery: Delivery, callback: AttemptCallback): void {
  const at = Date.now();
  let headers: string[];
  try {
    headers = webhookHeaders(delivery, Math.floor(at / 1000));
  } catch (error) {
    return callback(error);
  }
  const ended = (statusCode: number, delivered: boolean, message: string, retryAfterMs?: number) =>
    callback(undefined, {
      delivery,
      at,
      durationMs: Date.now() - at,
      statusCode,
      delivered,
      message,
      retryAfterMs,
    });
  const request = {
    method: 'POST',
    url: delivery.endpoint,
    headers,
    body: delivery.body,
    deadlineMs: DEADLINE_MS,
    maxBytes: RESPONSE_BYTES,
    overflow: 'cut',
  } as const;
  // The queue can call this function when the request of another delivery ends, so the trace of this delivery is set
  // here.
  continueTrace(delivery.cause, () =>
    http.dispatch(request, (error, answer) => {
      if (answer) {
        const { status, headers: answered } = answer;
        const delivered = status >= 200 && status < 300;
        // Retries follow a fixed schedule. Retries to a channel also follow Retry-After.
        const wait = delivery.destination ? retryAfterMsOf(status, answered) : undefined;
        ended(status, delivered, delivered ? '' : refusalOf(status), wait);
      } else if (error instanceof OutboundError) ended(0, false, error.message);
      else callback(error ?? new Error('neither a response nor an error'));
    }),
  );
}

/** Returns the headers of one attempt, names and values alternately. The HTTP client adds User-Agent. */
export function webhookHeaders(
  { target, signing, eventId, body }: Pick<Delivery, 'target' | 'signing' | 'eventId' | 'body'>,
  unixSeconds: number,
): string[] {
  const headers = signatureHeaders(signing, eventId, body, unixSeconds);
  headers.push('content-type', 'application/json');
  if (target.kind === 'replay') headers.push('x-replay', target.id);
  return headers;
}

function refusalOf(status: number): string {
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return `the endpoint answered ${status}${redirect}`;
}
