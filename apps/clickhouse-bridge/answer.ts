import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createGzip, type Gzip } from 'node:zlib';
import type { ClickhouseException } from './clickhouse-exception.js';
import type { Engine } from './engine.js';
import type { QueryRequest } from './query-request.js';

/** The figures of one statement, with the names that the header X-ClickHouse-Summary uses. */
export interface Summary {
  read_rows: number;
  read_bytes: number;
  written_rows: number;
  written_bytes: number;
  result_rows: number;
}

const CONTENT_TYPES: [RegExp, string][] = [
  [/EachRow/, 'application/x-ndjson; charset=UTF-8'],
  [/^JSON/, 'application/json; charset=UTF-8'],
  [/^CSV/, 'text/csv; charset=UTF-8'],
  [/^(TabSeparated|TSV)/, 'text/tab-separated-values; charset=UTF-8'],
  [/^(Native|RowBinary|Parquet|Arrow|ORC)/, 'application/octet-stream'],
];
const STALLED_READER_MS = 60_000;
/** A client gets this time to read an error that follows rows. */
const MARK_READ_WITHIN_MS = 1000;

/** Writes one response, with the same format and headers as a ClickHouse server. */
export class Answer {
  /**
   * The mark before an error that follows rows. A header of the response states the mark, so that the client can
   * recognize it.
   */
  private readonly exceptionTag = randomBytes(8).toString('hex');
  private readonly startedAt = process.hrtime.bigint();
  private gzip: Gzip | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly engine: Pick<Engine, 'version' | 'timezone'>,
    private readonly request: Pick<QueryRequest, 'queryId' | 'wantsCompressedAnswer'>,
  ) {}

  /** True if the headers were sent. After that, an error can only follow the rows. */
  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  /** Sends a complete result. */
  async sendWhole(bytes: Uint8Array, format: string, summary: Partial<Summary>): Promise<void> {
    this.begin(format, summary, this.request.wantsCompressedAnswer ? undefined : bytes.length);
    if (bytes.length > 0) await this.write(bytes);
    await this.end();
  }

  /** Writes the headers of a result whose pieces follow. */
  begin(format: string, summary: Partial<Summary>, length?: number): void {
    this.setCommonHeaders(format, summary);
    if (this.request.wantsCompressedAnswer) {
      this.response.setHeader('Content-Encoding', 'gzip');
      this.gzip = createGzip({ level: 3 });
      this.gzip.pipe(this.response);
    } else if (length !== undefined) {
      this.response.setHeader('Content-Length', length);
    }
    this.response.writeHead(200);
  }

  /**
   * Writes a piece of the result. Waits for a slow reader, but only for a limited time, because the statement stays
   * open during the wait.
   */
  async write(bytes: Uint8Array): Promise<void> {
    const sink = this.gzip ?? this.response;
    if (sink.write(bytes) || this.response.destroyed) return;
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => this.response.destroy(), STALLED_READER_MS);
      const proceed = () => {
        clearTimeout(stalled);
        sink.off('drain', proceed);
        this.response.off('close', proceed);
        resolve();
      };
      sink.on('drain', proceed);
      this.response.on('close', proceed);
    });
  }

  /** Ends the response, and waits until it was sent. */
  async end(): Promise<void> {
    if (this.response.destroyed) return;
    (this.gzip ?? this.response).end();
    await once(this.response, 'close');
  }

  /**
   * Reports an error. If nothing was sent, the error becomes the response. Otherwise the error follows the rows after a
   * mark, and the response stays incomplete.
   */
  async fail(exception: ClickhouseException): Promise<void> {
    if (this.response.destroyed) return;
    const text = exception.toText(this.engine.version);
    if (!this.hasBegun) {
      this.setCommonHeaders('TabSeparated', {});
      this.response.setHeader('X-ClickHouse-Exception-Code', exception.code);
      this.response.writeHead(exception.httpStatus, { 'Content-Type': 'text/plain; charset=UTF-8' });
      this.response.end(text);
      return;
    }
    const marked = `\r\n__exception__\r\n${this.exceptionTag}\r\n${text}${Buffer.byteLength(text)} ${this.exceptionTag}\r\n__exception__\r\n`;
    await this.flush();
    await this.write(Buffer.from(marked));
    await this.flush();
    // A client that knows the mark closes the connection. In Node 26 such a client loses the mark if the server closes
    // the connection.
    const timeLimit = AbortSignal.timeout(MARK_READ_WITHIN_MS);
    await once(this.response, 'close', { signal: timeLimit }).catch(() => undefined);
    // The last chunk of the response is not sent, so that clients that do not know the mark notice the error too.
    this.response.socket?.end();
  }

  private setCommonHeaders(format: string, summary: Partial<Summary>): void {
    const elapsed = process.hrtime.bigint() - this.startedAt;
    const figures = {
      read_rows: 0,
      read_bytes: 0,
      written_rows: 0,
      written_bytes: 0,
      result_rows: 0,
      ...summary,
    };
    const asText = Object.fromEntries(Object.entries(figures).map(([key, value]) => [key, String(value)]));
    const contentType = CONTENT_TYPES.find(([pattern]) => pattern.test(format))?.[1];
    this.response.setHeader('Content-Type', contentType ?? 'text/plain; charset=UTF-8');
    this.response.setHeader('X-ClickHouse-Format', format);
    this.response.setHeader('X-ClickHouse-Query-Id', this.request.queryId);
    this.response.setHeader('X-ClickHouse-Server-Display-Name', 'earshot-embedded');
    this.response.setHeader('X-ClickHouse-Timezone', this.engine.timezone);
    this.response.setHeader('X-ClickHouse-Exception-Tag', this.exceptionTag);
    this.response.setHeader(
      'X-ClickHouse-Summary',
      JSON.stringify({ ...asText, total_rows_to_read: '0', elapsed_ns: String(elapsed) }),
    );
  }

  /** Flushes the compression, so that everything that was written is sent. */
  private async flush(): Promise<void> {
    const gzip = this.gzip;
    if (gzip) await new Promise<void>((resolve) => gzip.flush(() => setImmediate(resolve)));
  }
}
