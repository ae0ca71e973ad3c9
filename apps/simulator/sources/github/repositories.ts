import type { SimPost } from '../../world/post.js';
import { languageOf, loginOf, nodeIdOf, repositoryNameOf, topicsOf, userOf, wholeSeconds } from './items.js';

const API = 'https://api.github.com';

/** The ends of the addresses that belong to a repository, by their keys without `_url`. */
const ADDRESSES: Readonly<Record<string, string>> = {
  forks: '/forks',
  keys: '/keys{/key_id}',
  collaborators: '/collaborators{/collaborator}',
  teams: '/teams',
  hooks: '/hooks',
  issue_events: '/issues/events{/number}',
  events: '/events',
  assignees: '/assignees{/user}',
  branches: '/branches{/branch}',
  tags: '/tags',
  blobs: '/git/blobs{/sha}',
  git_tags: '/git/tags{/sha}',
  git_refs: '/git/refs{/sha}',
  trees: '/git/trees{/sha}',
  statuses: '/statuses/{sha}',
  languages: '/languages',
  stargazers: '/stargazers',
  contributors: '/contributors',
  subscribers: '/subscribers',
  subscription: '/subscription',
  commits: '/commits{/sha}',
  git_commits: '/git/commits{/sha}',
  comments: '/comments{/number}',
  issue_comment: '/issues/comments{/number}',
  contents: '/contents/{+path}',
  compare: '/compare/{base}...{head}',
  merges: '/merges',
  archive: '/{archive_format}{/ref}',
  downloads: '/downloads',
  issues: '/issues{/number}',
  pulls: '/pulls{/number}',
  milestones: '/milestones{/number}',
  notifications: '/notifications{?since,all,participating}',
  labels: '/labels{/name}',
  releases: '/releases{/id}',
  deployments: '/deployments',
};

/** Returns a repository as a search result contains it. */
export function repositoryOf(post: SimPost): object {
  const fullName = repositoryNameOf(post);
  const url = `${API}/repos/${fullName}`;
  const html = `https://github.com/${fullName}`;
  const at = wholeSeconds(post);
  const addresses = Object.entries(ADDRESSES).map(([key, end]) => [`${key}_url`, url + end]);
  const [stars, forks, issues] = [post.score, post.score % 5, post.score % 7];
  return {
    id: post.number,
    node_id: nodeIdOf(post),
    name: fullName.slice(fullName.indexOf('/') + 1),
    full_name: fullName,
    private: false,
    owner: userOf(loginOf(post)),
    html_url: html,
    description: post.text === '' ? null : post.text.replace(/\s+/g, ' '),
    fork: false,
    url,
    ...(Object.fromEntries(addresses) as Record<string, string>),
    created_at: at,
    updated_at: at,
    pushed_at: at,
    git_url: `git://github.com/${fullName}.git`,
    ssh_url: `git@github.com:${fullName}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    homepage: post.link === '' ? null : post.link,
    size: 100 + post.score,
    stargazers_count: stars,
    watchers_count: stars,
    language: languageOf(post),
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: forks,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: issues,
    license: {
      key: 'mit',
      name: 'MIT License',
      spdx_id: 'MIT',
      url: `${API}/licenses/mit`,
      node_id: 'MDc6TGljZW5zZTEz',
    },
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: topicsOf(post),
    visibility: 'public',
    forks,
    open_issues: issues,
    watchers: stars,
    default_branch: 'main',
    score: 1,
  };
}
