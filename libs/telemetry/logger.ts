import { pino, stdSerializers, type Logger } from 'pino';
import { currentTrace } from './trace.js';

export type { Logger } from 'pino';

/**
 * A structured logger (JSON lines on standard error) that adds the trace and request id of the running work. It removes
 * the fields `apiKey`, `signingSecret`, `authorization` and `x-api-key` from logged objects.
 * @param isExpected for errors whose stack helps nobody, such as outages of a store: only their type and message are logged
 */
export function createLogger(
  service: string,
  level: string,
  isExpected: (error: unknown) => boolean = () => false,
): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => loggedError(error, isExpected) },
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['*.apiKey', '*.signingSecret', '*.authorization', '*["x-api-key"]'], remove: true },
      mixin: () => {
        const trace = currentTrace();
        return trace ? { traceId: trace.traceId, requestId: trace.requestId } : {};
      },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}

/** How an error is logged: with its stack, unless it is expected. */
export function loggedError(error: unknown, isExpected: (error: unknown) => boolean): object {
  if (!(error instanceof Error) || !isExpected(error)) return stdSerializers.err(error as Error);
  return { type: error.name, message: error.message };
}
