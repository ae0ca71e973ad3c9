export { createYoutubeConnector } from './connector.js';
export type { YoutubeSettings } from './ask.js';
export { parseComments, type VideoComment } from './comments.js';
export { parseSearchAnswer, parseVideos, type Details, type SearchAnswer } from './parse.js';
