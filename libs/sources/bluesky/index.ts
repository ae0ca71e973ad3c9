export { createBlueskyConnector, type BlueskySettings } from './connector.js';
export { parseSearchAnswer, type SearchAnswer } from './parse.js';
