export { createMastodonConnector, type MastodonSettings } from './connector.js';
export { parseSearch, parseTimeline, type StatusPage } from './parse.js';
