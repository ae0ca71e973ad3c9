import { LRUCache } from 'lru-cache';
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { currentTrace } from './trace.js';

export type { Logger } from 'pino';

/** The same expected error is logged at most once in this time, because a loop repeats it several times a second. */
const REPEAT_MS = 30_000;
const REMEMBERED_ERRORS = 1000;
/** Fields that are removed from log lines, down to the depth of `REDACTED`. */
const SECRETS = ['apiKey', 'signingSecret', 'password', 'authorization', 'cookie', '["x-api-key"]'];
/** The redaction needs a path for each depth. */
const REDACTED = ['', '*', '*.*'].flatMap((parent) => SECRETS.map((name) => pathOf(parent, name)));

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
  destination: DestinationStream = pino.destination({ dest: 2, sync: false }),
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
