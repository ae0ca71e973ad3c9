/** An error that the bridge reports over HTTP in the same form as a ClickHouse server. */
export class ClickhouseException extends Error {
  override readonly name = 'ClickhouseException';

  constructor(
    readonly code: number,
    readonly type: string,
    message: string,
  ) {
    super(message);
  }

  /** Returns the body of the response: the code, message and name of the error, and the version of the server. */
  toText(version: string): string {
    return `Code: ${this.code}. DB::Exception: ${this.message}. (${this.type}) (version ${version})\n`;
  }

  /** The HTTP status with which a server reports this error. */
  get httpStatus(): number {
    if (BAD_REQUESTS.has(this.code)) return 400;
    if (NOT_FOUND.has(this.code)) return 404;
    return OTHER_STATUSES.get(this.code) ?? 500;
  }
}

const BAD_REQUESTS = new Set([6, 20, 26, 27, 36, 38, 41, 43, 53, 62, 69, 72, 117, 130, 321, 344, 456, 457]);
const NOT_FOUND = new Set([46, 47, 50, 56, 60, 63, 73, 78, 81, 115]);
const OTHER_STATUSES = new Map([
  [48, 501],
  [159, 408],
  [202, 503],
  [209, 408],
  [307, 413],
  [497, 403],
  [516, 403],
]);

const ENGINE_MESSAGE = /^(?:Code: \d+\. DB::Exception: )*?Code: (\d+)\. DB::Exception: ([\s\S]*)$/;

/**
 * Converts an error of the engine. Removes the version, the name of the error, and the name of the temporary file that
 * contains an insert's rows, from the message.
 */
export function fromEngineError(error: unknown): ClickhouseException {
  if (error instanceof ClickhouseException) return error;
  const reported = error instanceof Error ? error.message : String(error);
  const found = ENGINE_MESSAGE.exec(reported);
  if (!found) return new ClickhouseException(1002, 'UNKNOWN_EXCEPTION', reported);
  const code = Number(found[1]);
  let text = (found[2] as string).trim();
  let type = 'UNKNOWN_EXCEPTION';
  for (;;) {
    const suffix = /[.\s]*\((?:([A-Z][A-Z0-9_]{2,})|version [^()]*)\)$/.exec(text);
    if (!suffix) break;
    if (suffix[1]) type = suffix[1];
    text = text.slice(0, suffix.index);
  }
  const message = text
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .replace(/: \(in file\/uri [^)]*\)/, '')
    .replace(/: data for INSERT was parsed from file/, '');
  return new ClickhouseException(code, type, message);
}

/**
 * Converts an error of a file that the bridge writes. A server reports the same codes for its own files, so that a
 * client knows that a retry can succeed. The message has no path, because the file is temporary.
 */
export function fromFileError(error: unknown): ClickhouseException {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  const message = `The rows cannot be written: ${code}`;
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new ClickhouseException(243, 'NOT_ENOUGH_SPACE', message)
    : new ClickhouseException(75, 'CANNOT_WRITE_TO_FILE_DESCRIPTOR', message);
}
