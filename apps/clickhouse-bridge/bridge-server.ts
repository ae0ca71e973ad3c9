import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Credentials } from '#embedded';
import { checkAccess } from './access.js';
import { Answer } from './answer.js';
import type { ChdbAnswer } from './chdb-native.js';
import { ClickhouseException, fromEngineError } from './clickhouse-exception.js';
import { engineOptions } from './engine-config.js';
import { Engine } from './engine.js';
import { applyKey, readQueryRequest, type QueryRequest } from './query-request.js';
import { readForm, readSqlBody, sqlText, writeRows } from './request-body.js';
import {
  parseStatement,
  type CommandStatement,
  type InsertStatement,
  type SelectStatement,
  type Statement,
} from './statement.js';

const DEFAULT_FORMAT = 'TabSeparated';
/**
 * A result up to this size is read as a whole, outside the event loop. If a larger result can be read in pieces, the
 * query runs a second time, and its result is read in pieces. All other results are read as a whole.
 */
const MAX_WHOLE_RESULT_BYTES = 16 * 1024 * 1024;
/**
 * Formats without a header and footer. Other formats cannot be sent in pieces, because the engine writes each piece as
 * a complete document.
 */
const STREAMED_FORMATS =
  /^(JSON(Compact|Strings|CompactStrings)?EachRow|TabSeparated(Raw)?|TSV(Raw)?|CSV|TSKV|RowBinary)$/;
const RESULT_LIMITS = /^(max_result_|result_overflow_mode)/;
const TOO_MANY_ROWS_OR_BYTES = 396;
/** The same limit as ClickHouse's http_max_uri_size, because parameters are in the address. */
const MAX_ADDRESS_BYTES = 1024 * 1024;
const KEEP_ALIVE_MS = 10_000;
const HEADERS_MS = 10_000;
const DRAIN_MS = 2_000;
const KILL_MS = 3_000;
const GLOB_CHARACTERS = /[*?{}]/;

/** Offers ClickHouse's HTTP interface for an engine in this process. */
export class BridgeServer {
  private readonly server: Server;
  private readonly running = new Set<AbortController>();

  private constructor(
    private readonly engine: Engine,
    /** Directory for an insert's rows while the engine reads them. */
    private readonly inbox: string,
    private readonly credentials: Credentials,
  ) {
    this.server = createServer(
      { maxHeaderSize: MAX_ADDRESS_BYTES, keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS },
      (req, res) => {
        void this.handle(req, res);
      },
    );
  }

  /**
   * Opens the directory and listens on the loopback address.
   * @param port 0 for any free port
   * @param credentials the credentials that every request must have
   */
  static async start(
    directory: string,
    port: number,
    credentials: Credentials,
  ): Promise<{ bridge: BridgeServer; port: number }> {
    if (GLOB_CHARACTERS.test(directory))
      throw new Error(`${directory}: a path with * ? { or } cannot be used`);
    const inbox = join(directory, 'inbox');
    await rm(inbox, { recursive: true, force: true });
    await mkdir(inbox, { recursive: true, mode: 0o700 });
    const engine = await Engine.open(join(directory, 'store'), engineOptions(directory));
    const bridge = new BridgeServer(engine, inbox, credentials);
    await new Promise<void>((resolve, reject) => {
      bridge.server.once('error', reject);
      bridge.server.listen(port, '127.0.0.1', resolve);
    }).catch((error: unknown) => {
      // A process that exits with an open engine crashes.
      engine.close();
      throw error;
    });
    return { bridge, port: (bridge.server.address() as AddressInfo).port };
  }

  /**
   * Stops the server: waits a short time for running statements, then kills them. Closes the engine if all have ended.
   * @returns false if a statement did not end after the kill
   */
  async stop(): Promise<boolean> {
    this.server.close();
    this.server.closeIdleConnections();
    const isIdle = () => this.engine.idle().then(() => true);
    let ended = await Promise.race([isIdle(), after(DRAIN_MS, false)]);
    if (!ended) {
      for (const disconnected of this.running) disconnected.abort();
      ended = await Promise.race([isIdle(), after(KILL_MS, false)]);
    }
    this.server.closeAllConnections();
    if (ended) this.engine.close();
    return ended;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await this.isAdmitted(request, response))) return;
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === '/ping') return void response.end('Ok.\n');
    if (path !== '/') return void response.writeHead(404).end(`There is no handle ${path}\n`);
    const disconnected = new AbortController();
    this.running.add(disconnected);
    response.once('close', () => {
      if (!response.writableFinished) disconnected.abort();
    });
    let answer = new Answer(response, this.engine, { queryId: randomUUID(), wantsCompressedAnswer: false });
    try {
      const query = readQueryRequest(request);
      answer = new Answer(response, this.engine, query);
      await this.answer(request, query, answer, disconnected.signal);
    } catch (error) {
      // A client reads the response only after it has sent its body. So the server reads a body that it does not use.
      request.resume();
      await answer.fail(fromEngineError(error));
    } finally {
      this.running.delete(disconnected);
    }
  }

  /**
   * Returns whether `checkAccess` admits a request. Otherwise refuses the request immediately, before its body arrives,
   * and closes its connection.
   */
  private async isAdmitted(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    response.on('error', () => undefined);
    try {
      checkAccess(request, this.credentials);
      return true;
    } catch (error) {
      response.setHeader('Connection', 'close');
      const answer = { queryId: randomUUID(), wantsCompressedAnswer: false };
      await new Answer(response, this.engine, answer).fail(fromEngineError(error));
      return false;
    }
  }

  private async answer(
    request: IncomingMessage,
    query: QueryRequest,
    answer: Answer,
    disconnected: AbortSignal,
  ): Promise<void> {
    const { statement, body } = await readStatement(request, query, this.engine.tableFunctions);
    if (statement.kind === 'insert') {
      await this.insert(statement, body, query, answer, disconnected);
      return;
    }
    const format = statement.format ?? query.defaultFormat ?? DEFAULT_FORMAT;
    const result = await this.wholeResult(statement, format, query, disconnected);
    if (result) return answer.sendWhole(result.bytes, format, { result_rows: result.rowsRead });
    await this.engine.use(query, disconnected, (connection) =>
      sendInPieces(connection.stream(statement.sql, format), format, answer, disconnected),
    );
  }

  /**
   * Returns the result; undefined if the result is larger than `MAX_WHOLE_RESULT_BYTES` and can be read in pieces.
   * Small results are not read in pieces, because such a read blocks the whole process while the engine analyses the
   * query.
   */
  private async wholeResult(
    statement: SelectStatement | CommandStatement,
    format: string,
    query: QueryRequest,
    disconnected: AbortSignal,
  ): Promise<ChdbAnswer | undefined> {
    const hasResultLimit = [...query.settings.keys()].some((name) => RESULT_LIMITS.test(name));
    const canBeStreamed =
      statement.kind === 'select' &&
      STREAMED_FORMATS.test(format) &&
      !query.mustWaitForEnd &&
      !hasResultLimit;
    const settings = new Map(query.settings);
    if (canBeStreamed) settings.set('max_result_bytes', String(MAX_WHOLE_RESULT_BYTES));
    try {
      return await this.engine.use({ ...query, settings }, disconnected, (connection) =>
        connection.all(statement.sql, query.defaultFormat ?? DEFAULT_FORMAT),
      );
    } catch (error) {
      if (canBeStreamed && fromEngineError(error).code === TOO_MANY_ROWS_OR_BYTES) return undefined;
      throw error;
    }
  }

  /**
   * Executes an INSERT. The engine reads the rows from a file. If the rows followed the statement, the engine would
   * treat a blank line as the end of the rows. It would then run the text after the line as the next statement.
   */
  private async insert(
    statement: InsertStatement,
    body: IncomingMessage | undefined,
    query: QueryRequest,
    answer: Answer,
    disconnected: AbortSignal,
  ): Promise<void> {
    const file = join(this.inbox, randomUUID());
    try {
      const bytes = await writeRows(file, statement.inlineData, body);
      const sql = `${statement.head} FROM INFILE '${file.replace(/[\\']/g, '\\$&')}' ${statement.tail}`;
      const rows = await this.engine.use(query, disconnected, async (connection) =>
        bytes === 0 ? 0 : (await connection.all(sql, 'Null')).rowsRead,
      );
      const figures = { read_rows: rows, read_bytes: bytes, written_rows: rows, written_bytes: bytes };
      await answer.sendWhole(new Uint8Array(), DEFAULT_FORMAT, figures);
    } finally {
      // A failure must not replace the reason why the insert failed. The next start removes the file.
      await rm(file, { force: true }).catch(() => undefined);
    }
  }
}

/** Reads the SQL from the address, the body, both (first the part in the address), or a form. */
async function readStatement(
  request: IncomingMessage,
  query: QueryRequest,
  tableFunctions: ReadonlySet<string>,
): Promise<{ statement: Statement; body?: IncomingMessage }> {
  if (/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) {
    for (const [name, value] of await readForm(request)) applyKey(query, name, value);
    return { statement: parseStatement(query.query ?? '', tableFunctions) };
  }
  if (query.query !== undefined) {
    const statement = parseStatement(query.query, tableFunctions);
    if (statement.kind === 'insert') return { statement, body: request };
  }
  const body = sqlText(await readSqlBody(request));
  const sql = query.query === undefined ? body : body === '' ? query.query : `${query.query}\n${body}`;
  return { statement: parseStatement(sql, tableFunctions) };
}

async function sendInPieces(
  pieces: AsyncGenerator<Uint8Array>,
  format: string,
  answer: Answer,
  disconnected: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    // The headers are sent with the first piece, so that an error before the first piece can be the response.
    if (!answer.hasBegun) answer.begin(format, {});
    await answer.write(piece);
    if (disconnected.aborted)
      throw new ClickhouseException(394, 'QUERY_WAS_CANCELLED', 'The client disconnected');
  }
  if (!answer.hasBegun) answer.begin(format, {});
  await answer.end();
}
