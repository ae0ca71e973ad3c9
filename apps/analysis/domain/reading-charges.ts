import { create } from '@bufbuild/protobuf';
import {
  creditsPerReading,
  EventChargeSchema,
  PRICE_BOOK_VERSION,
  type Event,
  type EventCharge,
  creditsOfCoBrands,
  type PricedReading,
  type SourceId,
} from '#contracts';

/**
 * Returns the charges for an event's readings: sentiment and intent together, the bucket, other brands, the agent step.
 * A dropped event has no charges. An agent step without an answer is free, and so is the search for a bucket if it
 * finds none.
 */
export function chargesOf(
  event: Pick<Event, 'dropped' | 'analysis' | 'bucket' | 'aiJson' | 'readings' | 'source' | 'type'>,
): EventCharge[] {
  if (event.dropped) return [];
  const { status } = JSON.parse(event.aiJson || '{}') as { status?: string };
  return [
    ...(event.analysis ? [chargeOf('analysis')] : []),
    ...(event.bucket ? [chargeOf('bucket')] : []),
    ...coBrandCharges(event),
    ...(status === 'completed' ? [chargeOf('agent_step')] : []),
  ];
}

/** Returns the charge for finding other brands (co-brands) in an answer of an AI engine; empty for other items. */
function coBrandCharges({
  readings,
  source,
  type,
}: Pick<Event, 'readings' | 'source' | 'type'>): EventCharge[] {
  const isRead = readings.some(({ kind }) => kind === CO_BRANDS);
  const costCredits = coBrandCredits(source, type);
  return isRead && costCredits > 0 ? [charge(CO_BRANDS, costCredits)] : [];
}

/** The kind of the reading, and the operation of its charge. */
export const CO_BRANDS = 'co_brands';

/**
 * Returns the price in credits of finding co-brands in one item. Only answers of AI engines have a price. All other
 * items, and events about citations in the same answer, are free.
 */
export function coBrandCredits(source: string, type: string): number {
  return type.startsWith('answer.') ? creditsOfCoBrands(source as SourceId) : 0;
}

function chargeOf(operation: PricedReading): EventCharge {
  return charge(operation, creditsPerReading(operation));
}

function charge(operation: string, costCredits: number): EventCharge {
  return create(EventChargeSchema, { operation, costCredits, priceBookVersion: PRICE_BOOK_VERSION });
}
