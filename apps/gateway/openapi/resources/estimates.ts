import {
  BOOLEAN,
  DATE,
  FREE_FORM,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  nullable,
  NUMBER,
  object,
  ref,
  TEXT,
  described,
  type Schema,
  SOURCE,
} from '../schema.js';
import { WARNINGS } from './keyword-schemas.js';

const CHARGED =
  'Also contains the readings of items. Readings are not quoted, except other brands in answers of `ai_answers`';
const day = object({
  date: DATE,
  quotedChecks: described('Number of checks that were planned, according to the interval', NUMBER),
  quotedCredits: NUMBER,
  chargedChecks: NUMBER,
  chargedCredits: described(CHARGED, NUMBER),
});

export const estimateSchemas: Readonly<Record<string, Schema>> = {
  Estimate: object({
    monthlyCredits: described(
      'Cost of the checks in 30 days. Does not contain the readings of items, because the number of items is not known: see `creditsPerItem`',
      NUMBER,
    ),
    creditsPerItem: described(
      'Additional credits for each kept item: for sentiment and intent together, for a bucket if the item gets a bucket, and for an answered agent step. Muted items, and items that are dropped for their language or relevance, cost nothing. Items that a rule drops cost as much as kept items',
      object({ analysis: INTEGER, bucket: INTEGER, agentStep: INTEGER }),
    ),
    checksPerMonth: NUMBER,
    bySource: listOf(
      object({
        source: SOURCE,
        intervalSeconds: INTEGER,
        searches: INTEGER,
        checksPerMonth: NUMBER,
        monthlyCredits: NUMBER,
      }),
    ),
    bySearch: listOf(
      object({
        source: SOURCE,
        searchId: nullable(ID),
        label: nullable(TEXT),
        creditsPerCheck: NUMBER,
        checksPerMonth: NUMBER,
        monthlyCredits: NUMBER,
      }),
    ),
    firstScanCredits: described(
      'Maximum cost of the first scan with `backfill`, without the readings of its items',
      NUMBER,
    ),
    startCredits: described(
      'Maximum cost of the checks that follow immediately: the first check, or the first scan, of each search. For a change, only searches that are new, enabled again, or start over are counted',
      NUMBER,
    ),
    normalized: object({
      refreshIntervalSeconds: INTEGER,
      sentimentEnabled: BOOLEAN,
      coBrandsEnabled: BOOLEAN,
      sources: listOf(
        object({
          source: SOURCE,
          intervalSeconds: INTEGER,
          searches: listOf(object({ id: nullable(ID), label: nullable(TEXT), resolvedCriteria: FREE_FORM })),
        }),
      ),
    }),
    planAllowance: NUMBER,
    creditsRemaining: NUMBER,
    searchSlots: object({ inUse: INTEGER, requested: INTEGER, limit: nullable(INTEGER) }),
  }),
  KeywordEstimate: {
    oneOf: [
      object({
        valid: { const: true },
        estimate: ref('Estimate'),
        estimateToken: described(
          'Value for the header `Service-Estimate-Token` of a create with the same body. A change needs no token, and no create accepts the token of a change',
          TEXT,
        ),
        estimateTokenExpiresAt: INSTANT,
        warnings: described(WARNINGS, listOf(ref('Fault'))),
      }),
      object({
        valid: { const: false },
        refusal: described(
          'The refusal that the create, or the change, would return',
          object({ status: INTEGER, code: nullable(TEXT), message: TEXT }, { details: listOf(ref('Fault')) }),
        ),
      }),
    ],
  },
  Quote: object({
    keywordId: ID,
    priceBookVersion: TEXT,
    monthlyCredits: NUMBER,
    since: INSTANT,
    until: INSTANT,
    quotedCredits: NUMBER,
    chargedCredits: described(CHARGED, NUMBER),
    bySource: listOf(
      object({ source: SOURCE, quotedCredits: NUMBER, chargedCredits: NUMBER, days: listOf(day) }),
    ),
  }),
};
