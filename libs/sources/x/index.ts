export { createXConnector } from './connector.js';
export type { XSettings } from './ask.js';
export { parseSearchAnswer, type SearchAnswer } from './parse.js';
export type { Tweet } from './tweet.js';
export type { User } from './user.js';
