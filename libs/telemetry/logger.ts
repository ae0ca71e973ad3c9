import { pino, type Logger } from 'pino';
import { currentTrace } from './trace.js';

export type { Logger } from 'pino';

/**
 * A structured logger (JSON lines on standard error) that adds the trace and request id of the running work. It removes
 * fields whose names are those of secrets, at every depth.
 */
export function createLogger(service: string, level: string): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
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
