export { createTiktokConnector } from './connector.js';
export type { TiktokSettings } from './sign-in.js';
export { parseVideos, type VideosAnswer } from './parse.js';
export { parseBigNumbers } from './big-numbers.js';
