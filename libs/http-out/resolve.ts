import { Resolver } from 'node:dns/promises';
import { createCachedFile } from './cached-file.js';
import { readHosts, type Hosts } from './hosts-file.js';
import { candidatesOf, createSearchRules } from './search-domains.js';
import { SystemLookups, type SystemLookup } from './system-lookups.js';

/** Looks up all addresses of a host name. Returns no addresses if the name is unknown, or no name server answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Where a resolver looks names up; tests use other values. */
export interface ResolveOptions {
  /** Address and port of each name server; default: the name servers of the operating system. */
  nameServers?: readonly string[];
  /** Default: `/etc/hosts`. */
  hostsFile?: string;
  /** The file with the search domains. Default: `/etc/resolv.conf`. */
  resolvConf?: string;
  /** Timeout of one question to a name server, in ms. c-ares waits half as long again. A question is asked twice. */
  timeoutMs?: number;
  /** The lookup of the operating system. */
  systemLookup?: SystemLookup;
}

const TIMEOUT_MS = 2000;
const TRIES = 2;
const NO_HOSTS: Hosts = new Map();

/**
 * Creates a function that looks names up in three places, in this order: the hosts file; the name servers, with the
 * search domains of the operating system; and the operating system, which also knows local names. The lookup of the
 * operating system occupies a thread of Node until the name servers have answered, and only two such lookups run at the
 * same time. So a few names whose name servers do not answer would stop the requests to all other hosts. Questions to
 * name servers occupy no thread. The operating system is asked only for names that the name servers do not know. It is
 * not asked if the name servers do not answer. The function rejects if the lookup of the operating system fails
 * (`SystemLookups`).
 */
export function createResolve({
  nameServers,
  hostsFile = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
  timeoutMs = TIMEOUT_MS,
  systemLookup,
}: ResolveOptions = {}): Resolve {
  const hosts = createCachedFile(hostsFile, () => readHosts(hostsFile), NO_HOSTS);
  const searchRules = createSearchRules(resolvConf);
  const systemLookups = new SystemLookups(systemLookup);
  return async (hostname) => {
    const own = (await hosts()).get(hostname.toLowerCase());
    if (own) return own;
    for (const name of candidatesOf(hostname, await searchRules())) {
      // Each resolver reads the present configuration of the system. A resolver waits only briefly after fast answers, and
      // the answers for the search domains of a cluster are much faster than those of the internet.
      const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
      if (nameServers) resolver.setServers(nameServers);
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      // If the name servers do not answer for a name, the next name is not asked: it can belong to somebody else, who
      // must not get the requests during an outage.
      if (found.length > 0 || answers.some(failedWith('ETIMEOUT'))) return found;
      if (answers.some(failedWith('ECONNREFUSED'))) break;
    }
    return systemLookups.addressesOf(hostname);
  };
}

function failedWith(code: string): (answer: PromiseSettledResult<unknown>) => boolean {
  return (answer) => answer.status === 'rejected' && (answer.reason as NodeJS.ErrnoException).code === code;
}
