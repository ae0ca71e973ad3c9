export { createGithubConnector, type GithubSettings } from './connector.js';
export { parseDiscussions, type DiscussionPage } from './discussions.js';
export { parseIssues, parseRepositories, type SearchPage } from './parse.js';
