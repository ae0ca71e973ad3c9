/**
 * Maximum time to connect, including the lookup of the host name. Slow receivers usually accept a connection within
 * this time. If the deadline of the request is earlier, the deadline applies.
 */
export const CONNECT_TIMEOUT_MS = 10_000;
