/** The error code for a change that is based on an outdated version of the keyword. Users never receive this code. */
export const STALE_VERSION = 'STALE_VERSION';
