/** One event on its way to one endpoint. */
export interface Delivery {
  eventId: string;
  accountId: string;
  watchId: string;
  /** Empty for a watch that no keyword owns. */
  keywordId: string;
  source: string;
  endpoint: string;
  /** The envelope's bytes, exactly as stored. */
  body: Uint8Array;
  secret: string;
  /** Attempts made before. */
  attempts: number;
  /** When the first attempt was, or would have been, in ms. */
  firstAt: number;
  failingSince: number | undefined;
  /** True while a row of `pending_deliveries` stands for it. */
  pending: boolean;
}

/** How one attempt came out. */
export interface AttemptResult {
  delivery: Delivery;
  /** In ms since the epoch. */
  at: number;
  durationMs: number;
  /** 0 when no answer came. */
  statusCode: number;
  delivered: boolean;
  message: string;
}
