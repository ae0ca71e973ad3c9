export { createProducthuntConnector, type ProducthuntSettings } from './connector.js';
export { parsePosts, type PostPage } from './parse.js';
export { POSTS_QUERY } from './request.js';
