import type { components } from '../../../../clients/typescript/src/index.js';

/** The listings of one UTC day in one market and one currency. */
export type MarketDay = components['schemas']['MarketDay'];
