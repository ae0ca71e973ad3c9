import { LRUCache } from 'lru-cache';
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { currentTrace } from './trace.js';

export type { Logger } from 'pino';

/** The same expected error is logged at most once in this time, because a loop repeats it several times a second. */
const REPEAT_MS = 30_000;
const REMEMBERED_ERRORS = 1000;
/** While the log cannot be written, at most this many characters wait. Further lines are lost. */
const MAX_WAITING = 1024 * 1024;
/** Writes to a full disk, or beyond a disk quota, fail with these codes. */
const IS_FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];
/** Fields that are removed from log lines, down to the depth of `REDACTED`. */
const SECRETS = ['apiKey', 'signingSecret', 'password', 'authorization', 'cookie', '["x-api-key"]'];
/** The redaction needs a path for each depth. */
const REDACTED = ['', '*', '*.*'].flatMap((parent) => SECRETS.map((name) => pathOf(parent, name)));

/** Shared by all loggers of the process. */
let standardError: DestinationStream | undefined;

/**
 * Creates a structured logger (JSON lines on standard error) that adds the trace and request id of the running work. It
 * removes fields with secrets (`apiKey`, `signingSecret`, `password`, `authorization`, `cookie`, `x-api-key`) from a
 * logged object and from two levels of objects inside it.
 * @param isExpected returns true for errors whose stack helps nobody, such as outages of a store. Only their type and
 *   message are logged. Such an error with the same type, text and log message is logged at most once in 30 s
 */
export function createLogger(
  service: string,
  level: string,
  isExpected: (error: unknown) => boolean = () => false,
  destination: DestinationStream = (standardError ??= openStandardError()),
): Logger {
  const isRepeated = repeatsOf(isExpected);
  return pino(
    {
      level,
      hooks: {
        logMethod(args, log) {
          const [fields, message] = args as [unknown, unknown];
          if (!isRepeated(fields, message)) log.apply(this, args);
        },
      },
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => loggedError(error, isExpected) },
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, remove: true },
      mixin: () => {
        const trace = currentTrace();
        return trace ? { traceId: trace.traceId, requestId: trace.requestId } : {};
      },
    },
    destination,
  );
}

/**
 * Writes to standard error. If standard error is a file on a full disk, the service continues: the stream keeps the lines
 * that it could not write, and tries again with the next line.
 */
function openStandardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: false, maxLength: MAX_WAITING });
  let isFull = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    isFull = IS_FULL.includes(error.code);
    if (!isFull) throw error;
  });
  stream.on('write', () => (isFull = false));
  // At the end of the process, pino would repeat the failing write for ever.
  const drop = () => isFull && stream.destroy();
  process.prependListener('beforeExit', drop).prependListener('exit', drop);
  return stream;
}

/** Returns whether an expected error was logged with the same message a short time ago. */
function repeatsOf(isExpected: (error: unknown) => boolean): (fields: unknown, message: unknown) => boolean {
  const loggedAt = new LRUCache<string, number>({ max: REMEMBERED_ERRORS });
  return (fields, message) => {
    const error = (fields as { err?: unknown } | null)?.err;
    if (!(error instanceof Error) || !isExpected(error)) return false;
    const key = `${String(message)}\n${error.name}\n${error.message}`;
    // The wall clock is not used: after it was set back, the error would be hidden for a long time.
    const now = performance.now();
    if (now - (loggedAt.get(key) ?? -Infinity) < REPEAT_MS) return true;
    loggedAt.set(key, now);
    return false;
  };
}

function pathOf(parent: string, name: string): string {
  return parent === '' || name.startsWith('[') ? `${parent}${name}` : `${parent}.${name}`;
}

/** Returns the form in which an error is logged: with its stack, unless the error is expected. */
export function loggedError(error: unknown, isExpected: (error: unknown) => boolean): object {
  if (!(error instanceof Error) || !isExpected(error)) return stdSerializers.err(error as Error);
  return { type: error.name, message: error.message };
}
