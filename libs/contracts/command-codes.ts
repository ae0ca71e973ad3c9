/** The error code for a change that is based on an outdated version. Only services receive it. */
export const STALE_VERSION = 'STALE_VERSION';
