import { OutboundError, type OutboundHttp } from '#http-out';
import { signatureHeaders } from './signature.js';
import type { AttemptResult, Delivery } from './delivery.js';

/** Over everything: DNS, connecting, sending, the answer. */
const DEADLINE_MS = 10_000;
const RESPONSE_BYTES = 64 * 1024;

/** Makes one attempt. Never throws: what goes wrong is the attempt's outcome. */
export async function sendWebhook(http: OutboundHttp, delivery: Delivery): Promise<AttemptResult> {
  const at = Date.now();
  const { statusCode, message } = await post(http, delivery, Math.floor(at / 1000));
  const delivered = statusCode >= 200 && statusCode < 300;
  return {
    delivery,
    at,
    durationMs: Date.now() - at,
    statusCode,
    delivered,
    message: delivered ? '' : message,
  };
}

/** The headers of one attempt, our name left out, which the door adds. */
export function webhookHeaders(
  { target, signing, eventId, body }: Pick<Delivery, 'target' | 'signing' | 'eventId' | 'body'>,
  unixSeconds: number,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...signatureHeaders(signing, eventId, body, unixSeconds),
    ...(target.kind === 'replay' ? { 'x-replay': target.id } : {}),
  };
}

async function post(http: OutboundHttp, delivery: Delivery, unixSeconds: number) {
  try {
    const { status } = await http.request({
      method: 'POST',
      url: delivery.endpoint,
      headers: webhookHeaders(delivery, unixSeconds),
      body: delivery.body,
      deadlineMs: DEADLINE_MS,
      maxBytes: RESPONSE_BYTES,
      overflow: 'cut',
      redirects: 'none',
    });
    const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
    return { statusCode: status, message: `the endpoint answered ${status}${redirect}` };
  } catch (error) {
    if (error instanceof OutboundError) return { statusCode: 0, message: error.message };
    throw error;
  }
}
