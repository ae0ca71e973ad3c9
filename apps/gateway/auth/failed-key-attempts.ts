import { Inject, Injectable, Optional } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { Refusal, systemClock, type Clock } from '#kernel';
import { LOG } from '#platform';
import type { Logger } from '#telemetry';

/** Injection token of the clock that decides which minute it is. Tests use their own clock. */
export const BAD_KEYS_CLOCK = Symbol('bad keys clock');

/**
 * Number of requests without a valid key, session or secret address that a network address can send to one gateway in one
 * minute.
 */
export const MAX_BAD_KEYS = 60;

const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;
/** An IPv6 network of this length belongs to one subscriber, who can use all of its addresses. */
const SUBSCRIBER_BITS = 64;

/**
 * Counts requests without a valid key, session or secret address (of a feed or report) by network address and UTC minute.
 * Each gateway has its own counts in memory, so that counting a flood of such requests needs no query to Postgres.
 */
@Injectable()
export class FailedKeyAttempts {
  private readonly counts = new LRUCache<string, { minute: number; count: number }>({ max: MAX_ADDRESSES });

  constructor(
    @Inject(LOG) private readonly log: Logger,
    @Optional() @Inject(BAD_KEYS_CLOCK) private readonly clock: Clock = systemClock,
  ) {}

  /** Returns the seconds until the address can try again; undefined if it can try now. */
  retryAfterSeconds(address: string): number | undefined {
    const now = this.clock.now().getTime();
    const known = this.counts.get(networkOf(address));
    if (!known || known.minute !== minuteOf(now) || known.count < MAX_BAD_KEYS) return undefined;
    return Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000);
  }

  /**
   * Refuses a request if its address has sent too many before. Closes its connection, because the gateway does not wait
   * for a body that can follow.
   * @throws Refusal `too-many`
   */
  refuseBlocked(address: string, reply: FastifyReply): void {
    const seconds = this.retryAfterSeconds(address);
    if (seconds === undefined) return;
    void reply.headers({ connection: 'close', 'retry-after': seconds });
    throw new Refusal(
      'too-many',
      'TOO_MANY_REQUESTS',
      `too many requests without a valid API key, session or secret address; try again in ${seconds} s`,
    );
  }

  /** Counts one more request without a valid key, session or secret address, and logs it. */
  note(address: string, fault: string): void {
    const network = networkOf(address);
    const minute = minuteOf(this.clock.now().getTime());
    const known = this.counts.get(network);
    const count = known?.minute === minute ? known.count + 1 : 1;
    this.counts.set(network, { minute, count });
    this.log.info(
      { address, fault },
      'a request without a valid API key, session or secret address was refused',
    );
    if (count === MAX_BAD_KEYS)
      this.log.warn(
        { network },
        'too many requests without a valid API key, session or secret address; further ones get 429 until the minute ends',
      );
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

/** Returns the address of a subscriber: an IPv4 address, or an IPv6 network. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  // An IPv4 address can be written as an IPv4-mapped IPv6 address.
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${SUBSCRIBER_BITS}`).toString();
}
