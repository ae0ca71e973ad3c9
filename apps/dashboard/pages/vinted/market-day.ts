import type { components } from '../../../../clients/typescript/src/index.js';

/** The listings of one UTC day in one currency. */
export type MarketDay = components['schemas']['MarketDay'];
