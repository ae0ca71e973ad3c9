export { createHackernewsConnector } from './connector.js';
export { parseSearchAnswer, type SearchAnswer } from './parse.js';
