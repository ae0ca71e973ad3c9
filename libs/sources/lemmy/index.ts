export { createLemmyConnector, type LemmySettings } from './connector.js';
export { parseList, parseSearch, type Asked, type LemmyPage } from './parse.js';
