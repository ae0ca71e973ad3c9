/** The code of a change that was made from a version that is no longer the last; nobody outside sees it. */
export const STALE_VERSION = 'STALE_VERSION';
