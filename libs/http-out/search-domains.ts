import { readFile } from 'node:fs/promises';
import { hostname as ownName } from 'node:os';
import { createCachedFile } from './cached-file.js';

/** How the operating system completes short host names (`man resolv.conf`). */
export interface SearchRules {
  /** In the order of the questions, without dots at both ends; the empty text is the root domain. */
  domains: readonly string[];
  /** A name with fewer dots is asked with the domains first, then as it is. */
  ndots: number;
  /** False if a name without a dot is asked only with the domains (`no-tld-query`). */
  asksTopLevel: boolean;
}

/** The inputs for the rules in addition to the file. */
export interface SearchContext {
  /** The environment of the process; `LOCALDOMAIN` and `RES_OPTIONS` replace settings of the file. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The name of this machine. Its domain is searched if nothing else names domains. */
  ownName: string;
}

const DEFAULT_NDOTS = 1;
const MAX_NDOTS = 15;

/**
 * Creates a function that returns the rules of a file with the format of `/etc/resolv.conf`, and reads the file again
 * after each change. Without the file, only the environment and the name of this machine decide.
 */
export function createSearchRules(path: string): () => Promise<SearchRules> {
  const parse = (text: string) => parseSearchRules(text, { environment: process.env, ownName: ownName() });
  return createCachedFile(path, async () => parse(await readFile(path, 'utf8')), parse(''));
}

/** Reads the rules from the text of the file, in the same way as glibc. Ignores lines that it does not know. */
export function parseSearchRules(text: string, { environment, ownName }: SearchContext): SearchRules {
  let domains = wordsOf(ownName.split('.').slice(1).join('.'));
  const options: string[] = [];
  for (const line of text.split('\n')) {
    // A keyword begins its line, and of several `domain` and `search` lines the last one applies.
    const [, keyword, rest = ''] = /^(domain|search|options)[ \t](.*)/.exec(line) ?? [];
    const words = wordsOf(rest);
    if (keyword === 'options') options.push(...words);
    else if (words.length > 0) domains = keyword === 'domain' ? words.slice(0, 1) : words;
  }
  options.push(...wordsOf(environment.RES_OPTIONS ?? ''));
  const [localDomain] = environment.LOCALDOMAIN?.split('\n') ?? [];
  if (localDomain !== undefined) domains = wordsOf(localDomain);
  return {
    domains: domains.map((domain) => domain.replace(/^\.|\.$/g, '')),
    ndots: ndotsOf(options),
    asksTopLevel: !options.some((option) => /^no[-_]tld[-_]query$/.test(option)),
  };
}

/**
 * Returns the absolute names that the operating system asks for a host name, in its order. The order decides who gets a
 * request: in Kubernetes, `hooks.dev` is the service `hooks` of the namespace `dev`, and only if there is no such
 * service, it is a name of the internet.
 * @param hostname with a final dot if it is absolute
 */
export function candidatesOf(hostname: string, { domains, ndots, asksTopLevel }: SearchRules): string[] {
  if (hostname.endsWith('.')) return [hostname];
  const dots = hostname.split('.').length - 1;
  const completed = domains.map((domain) => (domain === '' ? hostname : `${hostname}.${domain}`));
  if (dots >= ndots) return unique([hostname, ...completed]);
  const asksAsIs = dots > 0 || asksTopLevel || completed.length === 0;
  return unique(asksAsIs ? [...completed, hostname] : completed);
}

function ndotsOf(options: readonly string[]): number {
  const values = options.flatMap((option) => /^ndots:(\d*)/.exec(option)?.[1] ?? []);
  return Math.min(Number(values.at(-1) ?? DEFAULT_NDOTS), MAX_NDOTS);
}

function wordsOf(text: string): string[] {
  return text.split(/[ \t\r]+/).filter((word) => word !== '');
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
