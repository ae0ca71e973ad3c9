export { createMastodonConnector, type MastodonSettings } from './connector.js';
export { parseSearch, parseTimeline, type ResponseOrigin, type StatusPage } from './parse.js';
