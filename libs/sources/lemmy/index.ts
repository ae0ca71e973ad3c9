export { createLemmyConnector, type LemmySettings } from './connector.js';
export { parseList, parseSearch, type ResponseOrigin, type LemmyPage } from './parse.js';
