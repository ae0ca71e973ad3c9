export { createRssConnector } from './connector.js';
export { parseFeedAnswer, type FeedAnswer, type FeedOrigin } from './parse.js';
