import { create } from '@bufbuild/protobuf';
import {
  creditsPerReading,
  EventChargeSchema,
  PRICE_BOOK_VERSION,
  type Event,
  type EventCharge,
  type PricedReading,
} from '#contracts';

/**
 * The charges for an event's readings: sentiment and intent together, the bucket, the agent step. A dropped event, an
 * agent step without an answer and an item that got no bucket are free.
 */
export function chargesOf(event: Pick<Event, 'dropped' | 'analysis' | 'bucket' | 'aiJson'>): EventCharge[] {
  if (event.dropped) return [];
  const { status } = JSON.parse(event.aiJson || '{}') as { status?: string };
  return [
    ...(event.analysis ? [chargeOf('analysis')] : []),
    ...(event.bucket ? [chargeOf('bucket')] : []),
    ...(status === 'completed' ? [chargeOf('agent_step')] : []),
  ];
}

function chargeOf(operation: PricedReading): EventCharge {
  return create(EventChargeSchema, {
    operation,
    costCredits: creditsPerReading(operation),
    priceBookVersion: PRICE_BOOK_VERSION,
  });
}
