import type { Criteria } from '#contracts';
import { merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { ask, askGraphql } from './ask.js';
import { DISCUSSIONS_QUERY, parseDiscussions } from './discussions.js';
import { parseIssues, parseRepositories } from './parse.js';
import { faultsOf, searchesOf, type KindSearch } from './query.js';

/**
 * The token can be empty. Then GitHub allows ten searches a minute (thirty with a token), and discussions cannot be
 * searched.
 */
export interface GithubSettings {
  /** A token of any account. It needs no scopes. */
  token: string;
}

const PAGE_SIZE = 100;
// One query returns at most 1,000 results.
const LAST_PAGE = 10;
// GitHub adds new entries to its search index with a delay.
const INDEX_LAG_MS = 600_000;
// GitHub cannot sort repositories by creation, so a first poll reads the repositories that were created in this period.
const FIRST_POLL_MS = 30 * 86_400_000;

/** GitHub: issues, pull requests and repositories. With a token also discussions. */
export function createGithubConnector(settings: GithubSettings): SourceConnector {
  const token = settings.token.trim();
  const hasToken = token !== '';
  return {
    id: 'github',
    requiredSettings: [],
    filterKeys: ['kinds', 'language', 'org', 'repo', 'user'],
    commonGrid: false,
    hasSearch: true,
    // 30 searches a minute with a token, 10 without, minus a margin. Secondary limits allow few concurrent requests.
    budget: { requestsPerMinute: hasToken ? 28 : 9, concurrency: 1, backoff: 'lane' },
    checkCriteria: (criteria) => faultsOf(criteria, hasToken),
    requestsPerSearch: (criteria) => Math.max(1, searchesOf(criteria, 'word', hasToken).length),
    search: (criteria, context) => search(criteria, context, token),
  };
}

async function search(criteria: Criteria, context: FetchContext, token: string): Promise<Fetched> {
  const reads: Fetched[] = [];
  for (const one of searchesOf(criteria, context.match, token !== '')) {
    reads.push(await readSearch(one, context, token));
  }
  return merged(reads);
}

function readSearch({ kind, q }: KindSearch, context: FetchContext, token: string): Promise<Fetched> {
  switch (kind) {
    case 'issue':
    case 'pull_request':
      return readByPage(context, (page) =>
        askSearch(context, token, 'issues', createdSince(q, context), page),
      );
    case 'repository': {
      const since = context.since ?? new Date(context.now.getTime() - FIRST_POLL_MS);
      const named = createdSince(q, { since });
      // Repositories are sorted by their last update. So repositories after a known repository can be new,
      // and reading must not stop at a known one.
      const unordered = { ...context, known: () => false };
      return readByPage(unordered, (page) => askSearch(context, token, 'repositories', named, page));
    }
    case 'discussion':
      return readDiscussions(context, token, createdSince(q, context));
  }
}

/**
 * Adds `created:` with the start of the wanted period minus the delay of the index. A first poll of issues, pull
 * requests and discussions has no start, so nothing is added.
 */
function createdSince(q: string, { since }: Pick<FetchContext, 'since'>): string {
  if (!since) return q;
  const from = new Date(since.getTime() - INDEX_LAG_MS).toISOString().replace(/\.\d+Z$/, 'Z');
  return `${q} created:>=${from}`.trim();
}

async function askSearch(
  context: FetchContext,
  token: string,
  what: 'issues' | 'repositories',
  q: string,
  page: number,
) {
  const query = new URLSearchParams({
    q,
    sort: what === 'issues' ? 'created' : 'updated',
    order: 'desc',
    per_page: String(PAGE_SIZE),
    page: String(page),
  });
  const body = await ask(context, token, `/search/${what}?${query}`);
  return what === 'issues' ? parseIssues(body) : parseRepositories(body);
}

type AskPage = (page: number) => ReturnType<typeof askSearch>;

async function readByPage(context: FetchContext, askPage: AskPage): Promise<Fetched> {
  let missed = false;
  const read = async (number: number): Promise<Page> => {
    const { items, warnings, count } = await askPage(number);
    const full = count >= PAGE_SIZE;
    missed ||= full && number >= LAST_PAGE;
    return { items, warnings, next: full && number < LAST_PAGE ? () => read(number + 1) : undefined };
  };
  const { since, pageCap } = context;
  const known = (itemId: string) => context.known(itemId);
  const fetched = await readPages(await read(1), { known, since, pageCap });
  return { ...fetched, gap: fetched.gap || missed };
}

async function readDiscussions(context: FetchContext, token: string, q: string): Promise<Fetched> {
  const read = async (after?: string): Promise<Page> => {
    const variables = { q: `${q} sort:created-desc`, first: PAGE_SIZE, after: after ?? null };
    const page = parseDiscussions(await askGraphql(context, token, DISCUSSIONS_QUERY, variables));
    const next = page.cursor;
    return {
      items: page.items,
      warnings: page.warnings,
      next: next === undefined || next === after ? undefined : () => read(next),
    };
  };
  const { since, pageCap } = context;
  return readPages(await read(), { known: (itemId) => context.known(itemId), since, pageCap });
}
