export { createRedditConnector, type RedditSettings } from './connector.js';
export { parseListing, type Listing } from './parse.js';
export { moderatedSubreddits, parseModerated, type Subreddit } from './moderated.js';
