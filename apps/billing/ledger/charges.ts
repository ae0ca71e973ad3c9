import { fromBinary } from '@bufbuild/protobuf';
import { CheckCostSchema, EventCostSchema, ExploreDecisionSchema, LookupSchema } from '#contracts';
import { exploredIdOf } from '#kernel';
import type { ChargeCause } from '../domain/ledger.js';

/** The charges of a fact, and the account that pays them. */
export interface Charges {
  accountId: string;
  causes: ChargeCause[];
}

/** The streams whose facts cost credits. */
export const CHARGED_STREAMS = ['CHECKS', 'EVENTS', 'LOOKUPS', 'EXPLORES'] as const;
/** A stream whose facts cost credits. */
export type ChargedStream = (typeof CHARGED_STREAMS)[number];

/** Returns the name of the durable consumer that charges the stream's facts. */
export function chargingConsumerOf(stream: ChargedStream): string {
  return `billing-${stream.toLowerCase()}`;
}

/** Returns the charges of a stored fact; the list of causes is empty if the fact is free. */
export function chargesOf(stream: ChargedStream, data: Uint8Array): Charges {
  switch (stream) {
    case 'CHECKS':
      return ofCheck(data);
    case 'EVENTS':
      return ofEvent(data);
    case 'LOOKUPS':
      return ofLookup(data);
    case 'EXPLORES':
      return ofExplore(data);
  }
}

/** Decodes facts without items, envelopes and labels. */
const COST_FIELDS_ONLY = { readUnknownFields: false };

/**
 * Returns the charge of a check. A failed check is free. If a check has several parts, only one part contains the
 * charge. Checks from the release before Earshot had credits contain costs but no version of the price book. Those
 * checks were free, and are not charged now.
 */
function ofCheck(data: Uint8Array): Charges {
  const check = fromBinary(CheckCostSchema, data, COST_FIELDS_ONLY);
  const { accountId, checkId, watchId, keywordId, source, finishedAt, costCredits, priceBookVersion } = check;
  if (check.failure || costCredits <= 0 || priceBookVersion === '') return { accountId, causes: [] };
  const cause: ChargeCause = {
    operation: check.firstScan ? 'first_scan' : 'check',
    source,
    keywordId,
    watchId,
    checkId,
    reference: checkId,
    at: finishedAt,
    costCredits,
    rateCredits: check.rateCredits,
    units: check.units,
    priceBookVersion,
  };
  return { accountId, causes: [cause] };
}

function ofEvent(data: Uint8Array): Charges {
  const event = fromBinary(EventCostSchema, data, COST_FIELDS_ONLY);
  const { accountId, eventId, watchId, keywordId, checkId, source, occurredAt } = event;
  const causes = event.charges
    .filter(({ costCredits }) => costCredits > 0)
    .map(({ operation, costCredits, priceBookVersion }): ChargeCause => ({
      operation,
      source,
      keywordId,
      watchId,
      checkId,
      reference: eventId,
      part: operation,
      at: occurredAt,
      costCredits,
      rateCredits: costCredits,
      units: 1,
      priceBookVersion,
    }));
  return { accountId, causes };
}

/**
 * Returns the charge of a direct lookup, a semantic question or an analysis: the price that the fact contains. Lookups
 * from the release before Earshot had credits also contain a price, but were free.
 */
function ofLookup(data: Uint8Array): Charges {
  const lookup = fromBinary(LookupSchema, data, COST_FIELDS_ONLY);
  const { accountId, lookupId, source, operation, at, costCredits, priceBookVersion, billed } = lookup;
  if (costCredits <= 0 || !billed) return { accountId, causes: [] };
  const cause: ChargeCause = {
    // A semantic question and an analysis have no source.
    operation: source === '' ? operation : `${source}.${operation}`,
    source,
    keywordId: '',
    watchId: '',
    checkId: '',
    reference: lookupId,
    at,
    costCredits,
    rateCredits: costCredits,
    units: 1,
    priceBookVersion,
  };
  return { accountId, causes: [cause] };
}

/** Returns the charges of an Explore. Each source that answered is charged separately; a source that failed is free. */
function ofExplore(data: Uint8Array): Charges {
  const { accountId, exploreId, decidedAt, events } = fromBinary(ExploreDecisionSchema, data);
  const causes = events.flatMap(({ event }): ChargeCause[] => {
    if (event.case !== 'sourceAnswered' || event.value.costCredits <= 0) return [];
    const { source, costCredits, priceBookVersion } = event.value;
    return [
      {
        operation: 'explore',
        source,
        keywordId: '',
        watchId: '',
        checkId: '',
        reference: exploredIdOf(exploreId, source),
        at: decidedAt,
        costCredits,
        rateCredits: costCredits,
        units: 1,
        priceBookVersion,
      },
    ];
  });
  return { accountId, causes };
}
