import { RouteConfig } from '@nestjs/platform-fastify';

/** How long the gateway waits for the service that runs an analysis or a backtest. */
export const LONG_ANSWER_MS = 120_000;
/** Time for the response to reach the client. */
const MARGIN_MS = 5_000;

/**
 * Declares a route whose response can take `LONG_ANSWER_MS`. Other routes respond with 503 after twice
 * `HTTP_REQUEST_TIMEOUT_MS`.
 */
export const LongAnswer = () => RouteConfig({ answerWithinMs: LONG_ANSWER_MS + MARGIN_MS });
