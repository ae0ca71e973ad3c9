/** Where to log: pino's shape, so that a pino logger fits as it is. */
export interface EmbeddedLog {
  info(message: string): void;
  warn(message: string): void;
}

/** What to start, and where its data lives. A store whose URL is given is not started. */
export interface EmbeddedOptions {
  dataDir: string;
  natsUrl?: string | undefined;
  databaseUrl?: string | undefined;
  clickhouseUrl?: string | undefined;
  log: EmbeddedLog;
}

/** The stores that are up. */
export interface EmbeddedStores {
  natsUrl: string;
  databaseUrl: string;
  clickhouseUrl: string;
  /** Names of what was started here (`nats`, `postgres`, `clickhouse`); the others had a URL. */
  started: string[];
  /** Ends everything that was started, within 10 seconds. Calling it again waits for the first call. */
  stop(): Promise<void>;
}

/** Starts the stores that have no URL. */
export function startEmbedded(_options: EmbeddedOptions): Promise<EmbeddedStores> {
  return Promise.reject(new Error('embedded stores are not built yet'));
}
