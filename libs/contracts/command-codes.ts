/** The code of a change that was based on an outdated version. Only services see it. */
export const STALE_VERSION = 'STALE_VERSION';
