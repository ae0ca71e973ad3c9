import { lookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { CONNECT_TIMEOUT_MS } from './connect-timeout.js';

/** Returns the addresses of a host name, and no addresses for an unknown name. Rejects if it gets no answer. */
export type SystemLookup = (hostname: string) => Promise<readonly string[]>;

/** Maximum number of waiting names that the operating system has not known before. */
export const MAX_WAITING = 100;
/**
 * How long an unknown name is not looked up again, in ms. The name can become known later, for example when its machine
 * is started.
 */
export const UNKNOWN_MS = 60_000;
const UNKNOWN_KEPT = 10_000;
const KNOWN_KEPT = 1_000;

/** The addresses of a name, or why there is no answer. */
type Outcome = readonly string[] | Error;
/** Ends one request for the addresses of a name. */
type Waiter = (outcome: Outcome) => void;

/** Names that are looked up one after the other. */
interface Lane {
  /** The waiters of each name, in the order of the lookups. Contains the name whose lookup runs, until it ends. */
  readonly names: Map<string, Set<Waiter>>;
  running?: string;
}

/**
 * Looks names up with the operating system. A lookup occupies a thread of Node, up to half a minute for some unknown
 * names, and cannot be stopped. So names wait for each other. These rules prevent one user from delaying the names of
 * others:
 * - All requests for a name share one lookup. A request ends after the time limit of a connection, and a name without
 *   requests is not looked up.
 * - Names that the operating system has known wait only for each other, so unknown names do not delay them.
 * - A name that was unknown is not looked up again for a minute.
 * - If too many names that were not known before wait already, a further such name fails at once.
 */
export class SystemLookups {
  private readonly knownLane: Lane = { names: new Map() };
  private readonly newLane: Lane = { names: new Map() };
  private readonly known = new LRUCache<string, true>({ max: KNOWN_KEPT });
  private readonly unknown = new LRUCache<string, true>({ max: UNKNOWN_KEPT, ttl: UNKNOWN_MS });

  constructor(private readonly lookUp: SystemLookup = lookUpInSystem) {}

  /**
   * Returns the addresses of a host name; none if the name is unknown.
   * @throws Error with the code `EAI_AGAIN` if too many names wait, `ETIMEDOUT` if the lookup does not end within
   *   `CONNECT_TIMEOUT_MS`, or the error of the lookup
   */
  async addressesOf(hostname: string): Promise<readonly string[]> {
    const name = hostname.toLowerCase();
    if (this.unknown.has(name)) return [];
    const lane = this.known.has(name) ? this.knownLane : this.newLane;
    const waiters = lane.names.get(name) ?? this.enter(lane, name);
    return new Promise((resolve, reject) => {
      const end: Waiter = (outcome) => {
        clearTimeout(timer);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      const timer = setTimeout(() => {
        waiters.delete(end);
        if (waiters.size === 0 && lane.running !== name) lane.names.delete(name);
        end(failure('ETIMEDOUT', `${name}: the operating system did not look up the name in time`));
      }, CONNECT_TIMEOUT_MS).unref();
      waiters.add(end);
      void this.run(lane);
    });
  }

  private enter(lane: Lane, name: string): Set<Waiter> {
    const waiting = lane.names.size - (lane.running === undefined ? 0 : 1);
    if (lane === this.newLane && waiting >= MAX_WAITING)
      throw failure(
        'EAI_AGAIN',
        `${name}: ${waiting} other names wait for the operating system; try again later`,
      );
    const waiters = new Set<Waiter>();
    lane.names.set(name, waiters);
    return waiters;
  }

  private async run(lane: Lane): Promise<void> {
    const [next] = lane.names;
    if (lane.running !== undefined || !next) return;
    const [name, waiters] = next;
    lane.running = name;
    const outcome = await this.lookUp(name).catch((error: Error) => error);
    this.remember(name, outcome);
    lane.running = undefined;
    lane.names.delete(name);
    for (const end of waiters) end(outcome);
    void this.run(lane);
  }

  private remember(name: string, outcome: Outcome): void {
    const isAnswer = !(outcome instanceof Error);
    if (isAnswer && outcome.length > 0) {
      this.known.set(name, true);
      return;
    }
    // Also after a failure, because the next lookup is probably slow too, and must not delay the known names.
    this.known.delete(name);
    if (isAnswer) this.unknown.set(name, true);
  }
}

async function lookUpInSystem(hostname: string): Promise<string[]> {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') return [];
    throw error;
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
