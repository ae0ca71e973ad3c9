import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort, faultsOfTexts, filterTexts } from '../shared/filters.js';
import { alternativesOf, quotedIfNeeded } from '../shared/terms.js';

/** The searchable kinds. Discussions can be searched only with a token. */
export const KINDS = ['issue', 'pull_request', 'discussion', 'repository'] as const;
/** A searchable kind. */
export type Kind = (typeof KINDS)[number];

// Two limits of GitHub's search (docs, rest/search): the length of the text, and the number of operators.
const MAX_TEXT_LENGTH = 256;
const MAX_OPERATORS = 5;

// Earshot's own limit for repositories, organisations and accounts together. It leaves an operator for the terms.
const MAX_PLACES = 5;

const REPOSITORY = /^[A-Za-z0-9-]{1,39}\/[A-Za-z0-9._-]{1,100}$/;
const ACCOUNT = /^[A-Za-z0-9-]{1,39}$/;
const LANGUAGE = /^[\p{L}\p{N}+#. -]{1,40}$/u;

/** Returns the kinds of a search (`filters.kinds`); default: all that are available. */
export function kindsOf(criteria: Criteria, hasToken: boolean): Kind[] {
  const named = filterTexts(criteria, 'kinds');
  return KINDS.filter(
    (kind) => (named.length === 0 || named.includes(kind)) && (kind !== 'discussion' || hasToken),
  );
}

/**
 * Returns a fault for each part of the criteria that GitHub does not support. If a filter or the sort has a wrong
 * value, only such faults are returned.
 */
export function faultsOf(criteria: Criteria, hasToken: boolean): Fault[] {
  const account = (what: string) => ({
    wanted: `the name of ${what}, or a list of them`,
    valid: (text: string) => ACCOUNT.test(text),
  });
  const faults = [
    ...faultsOfTexts(criteria, {
      key: 'repo',
      wanted: 'a repository such as "owner/name", or a list of them',
      valid: (text) => REPOSITORY.test(text),
    }),
    ...faultsOfTexts(criteria, { key: 'org', ...account('an organisation') }),
    ...faultsOfTexts(criteria, { key: 'user', ...account('an account') }),
    ...faultsOfTexts(criteria, {
      key: 'language',
      wanted: 'a programming language such as "TypeScript"',
      valid: (text) => LANGUAGE.test(text),
      max: 1,
    }),
    ...faultsOfTexts(criteria, {
      key: 'kinds',
      wanted: `a list of ${KINDS.join(', ')}`,
      valid: (text) => (KINDS as readonly string[]).includes(text),
    }),
    ...faultsOfSort('github', criteria, ['newest']),
  ];
  if (faults.length > 0) return faults;
  if (placesOf(criteria).length > MAX_PLACES) {
    faults.push({ path: 'filters', message: `at most ${MAX_PLACES} of repo, org and user together` });
  }
  if (kindsOf(criteria, hasToken).length === 0) {
    faults.push({ path: 'filters.kinds', message: 'discussions are searched only with SOURCE_GITHUB_TOKEN' });
  }
  return [...faults, ...faultsOfWords(criteria)];
}

function faultsOfWords(criteria: Criteria): Fault[] {
  const alternatives = alternativesOf(criteria);
  if (alternatives.length === 0 && placesOf(criteria).length === 0) {
    const message = 'a search on github needs a query, terms, filters.repo, filters.org or filters.user';
    return [{ path: 'query', message }];
  }
  if (alternatives.some((phrases) => phrases.map(quotedIfNeeded).join(' ').length > MAX_TEXT_LENGTH)) {
    return [{ path: 'query', message: `github takes at most ${MAX_TEXT_LENGTH} characters` }];
  }
  return [];
}

/** One search of one kind. */
export interface KindSearch {
  kind: Kind;
  /** Words and qualifiers, without the time. */
  q: string;
}

/** Returns the searches of a check, by kind. */
export function searchesOf(criteria: Criteria, match: MatchMode, hasToken: boolean): KindSearch[] {
  return kindsOf(criteria, hasToken).flatMap((kind) =>
    wordsOf(criteria, match, kind).map((words) => ({
      kind,
      q: [words, ...qualifiersOf(criteria, match, kind)].filter((part) => part !== '').join(' '),
    })),
  );
}

function wordsOf(criteria: Criteria, match: MatchMode, kind: Kind): string[] {
  const alternatives = alternativesOf(criteria);
  if (alternatives.length === 0) return [''];
  // The text is sent unchanged. Operators in the text are not counted, because Earshot does not parse the text.
  if (match === 'platform') return alternatives.map((phrases) => phrases.join(' '));
  if (alternatives.every((phrases) => phrases.length === 1)) {
    const terms = alternatives.flat().map(quotedIfNeeded);
    return groupsOf(terms, MAX_OPERATORS - placeOperators(criteria, kind)).map((group) => anyOf(group, kind));
  }
  const [query = ''] = alternatives[0] ?? [];
  const front = quotedIfNeeded(query);
  // The precedence of AND and OR is only documented for issues.
  if (!isIssue(kind)) return alternatives.map((phrases) => phrases.map(quotedIfNeeded).join(' '));
  const terms = alternatives.map((phrases) => quotedIfNeeded(phrases[1] ?? ''));
  const operators = MAX_OPERATORS - placeOperators(criteria, kind);
  return groupsOf(terms, operators, front.length + 1).map((group) => `${front} ${anyOf(group, kind)}`);
}

// In the search for issues, OR has a lower precedence than the space before a qualifier, so brackets are needed. The
// other searches do not support brackets.
function anyOf(terms: readonly string[], kind: Kind): string {
  const any = terms.join(' OR ');
  return isIssue(kind) && terms.length > 1 ? `(${any})` : any;
}

function groupsOf(terms: readonly string[], operators: number, taken = 0): string[][] {
  const groups: string[][] = [];
  let group: string[] = [];
  for (const term of terms) {
    const full = group.length > operators || taken + [...group, term].join(' OR ').length > MAX_TEXT_LENGTH;
    if (group.length > 0 && full) {
      groups.push(group);
      group = [];
    }
    group.push(term);
  }
  return group.length > 0 ? [...groups, group] : groups;
}

function qualifiersOf(criteria: Criteria, match: MatchMode, kind: Kind): string[] {
  const language = filterTexts(criteria, 'language')[0];
  return [
    placeQualifier(criteria, kind),
    ...(kind === 'issue' ? ['is:issue'] : kind === 'pull_request' ? ['is:pull-request'] : []),
    // Except in mode `platform`, comments are not searched: Earshot could not show a match that is only in a comment.
    ...(isIssue(kind) && match !== 'platform' && alternativesOf(criteria).length > 0
      ? ['in:title,body']
      : []),
    ...(kind === 'repository' && language !== undefined ? [`language:${quotedIfNeeded(language)}`] : []),
  ];
}

function placesOf(criteria: Criteria): string[] {
  return ['repo', 'org', 'user'].flatMap((key) => filterTexts(criteria, key).map((text) => `${key}:${text}`));
}

// Several places are alternatives: the search for issues needs OR between them; the other searches treat a
// space as OR.
function placeQualifier(criteria: Criteria, kind: Kind): string {
  const places = placesOf(criteria);
  if (!isIssue(kind) || places.length < 2) return places.join(' ');
  return `(${places.join(' OR ')})`;
}

function placeOperators(criteria: Criteria, kind: Kind): number {
  return isIssue(kind) ? Math.max(0, placesOf(criteria).length - 1) : 0;
}

function isIssue(kind: Kind): boolean {
  return kind === 'issue' || kind === 'pull_request';
}
