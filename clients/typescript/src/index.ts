export type { components, operations, paths } from './api.js';
export { createClient, type Client } from './client.js';
export { EarshotConnectionError, EarshotError, type ErrorCode, type Fault } from './errors.js';
export type { ClientOptions } from './http.js';
export type { StreamedMention, StreamFilters, StreamOptions } from './mention-stream.js';
export type { AnswerOf, CallOptions, ListPath, Method, OptionsOf, PathsOf, RowOf } from './routes.js';
export { verifyWebhook, WebhookVerificationError, type Envelope, type HeadersLike } from './webhooks.js';
