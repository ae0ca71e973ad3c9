import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ClickhouseException, fromFileError } from './clickhouse-exception.js';

/** The limit for SQL, which is kept in memory. */
const MAX_SQL_BYTES = 64 * 1024 * 1024;
/** The limit for an insert's rows, which are written to a file. */
export const MAX_DATA_BYTES = 1024 * 1024 * 1024;

/** Reads a body that contains SQL. The limit applies to the size after decompression. */
export async function readSqlBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of decoded(request, MAX_SQL_BYTES)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Returns the SQL as text. Refuses bytes that are not UTF-8, because the conversion to text would change them without
 * an error.
 */
export function sqlText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ClickhouseException(62, 'SYNTAX_ERROR', 'The query is not valid UTF-8');
  return bytes.toString('utf8');
}

/** Reads the fields of a form (`query`, `param_…`). */
export async function readForm(request: IncomingMessage): Promise<[string, string][]> {
  const contentType = request.headers['content-type'] ?? '';
  const body = await readSqlBody(request);
  // Node's class Response parses the form; nothing is sent over the network.
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw new ClickhouseException(117, 'INCORRECT_DATA', 'The multipart form cannot be read');
    });
  const fields: [string, string][] = [];
  for (const [name, value] of form.entries()) {
    if (typeof value !== 'string')
      throw new ClickhouseException(48, 'NOT_IMPLEMENTED', `External table ${name} in a form: not supported`);
    fields.push([name, value]);
  }
  return fields;
}

/**
 * Writes an insert's rows to a file: first the rows in the SQL, then the body.
 * @returns the number of bytes
 * @throws ClickhouseException as `decoded` does; 243 if the disk is full, 75 if the file cannot be written otherwise
 */
export async function writeRows(file: string, inline: string, body?: IncomingMessage): Promise<number> {
  const handle = await open(file, 'w', 0o600).catch((error: unknown) => {
    throw fromFileError(error);
  });
  const rows = async function* () {
    if (inline) yield Buffer.from(inline, 'utf8');
    if (body) yield* decoded(body, MAX_DATA_BYTES);
  };
  const faults: unknown[] = [];
  let bytes = 0;
  try {
    for await (const chunk of rows()) {
      bytes += chunk.length;
      // The rest of the body is read after a fault too, because a client that is sending does not read the response.
      if (faults.length === 0) await handle.writeFile(chunk).catch((error: unknown) => faults.push(error));
    }
  } finally {
    await handle.close().catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw fromFileError(faults[0]);
  return bytes;
}

/**
 * Yields the decompressed bytes of the body.
 * @throws ClickhouseException 307 if there are more than `maxBytes` bytes, 117 if the body cannot be read
 */
async function* decoded(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  const tooLong = new ClickhouseException(307, 'TOO_MANY_BYTES', `The body is over ${maxBytes} bytes`);
  // The rest of the body is read, because a client that is sending does not read the response.
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, bytes > maxBytes ? undefined : chunk);
    },
    flush(done) {
      done(bytes > maxBytes ? tooLong : null);
    },
  });
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const stages = [request, ...decoders(encoding), limited] as const;
  // The pipeline passes every error on to `limited`, from which it is thrown below.
  pipeline(stages as unknown as [IncomingMessage, Transform]).catch(() => undefined);
  try {
    for await (const chunk of limited) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof ClickhouseException) throw error;
    const message = `The body cannot be read: ${(error as Error).message}`;
    throw new ClickhouseException(117, 'INCORRECT_DATA', message);
  }
}

function decoders(encoding: string): Transform[] {
  switch (encoding) {
    case 'identity':
      return [];
    case 'gzip':
      return [createGunzip()];
    case 'deflate':
      return [createInflate()];
    case 'br':
      return [createBrotliDecompress()];
    default:
      throw new ClickhouseException(48, 'NOT_IMPLEMENTED', `Content-Encoding ${encoding} is not supported`);
  }
}
