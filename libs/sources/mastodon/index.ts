export { createMastodonConnector, type MastodonSettings } from './connector.js';
export { parseSearch, parseTimeline, type Asked, type StatusPage } from './parse.js';
