import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressPolicy } from './address-policy.js';
import { CONNECT_TIMEOUT_MS } from './connect-timeout.js';
import { isLocalhost, LOOPBACK } from './localhost.js';
import { notAllowed, OutboundError } from './outbound-error.js';
import type { Resolve } from './resolve.js';

/** Connects to any address: for upstreams that the operator configured. */
export function createTrustedConnector(): buildConnector.connector {
  return buildConnector({ timeout: CONNECT_TIMEOUT_MS, autoSelectFamily: true });
}

/**
 * Connects only to addresses that the policy permits. It checks the addresses of one lookup and connects to one of
 * them, so a second lookup (DNS rebinding) cannot change the address. Literal addresses are not looked up: they are
 * checked before (`Target.blocked`), and again here on the open socket.
 */
export function createGuardedConnector(permits: AddressPolicy, resolve: Resolve): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    lookup: (hostname, options, callback) => {
      addressesOf(hostname, permits, resolve).then(
        (addresses) => answerLookup(addresses, options, callback),
        (error: Error) => callback(error, []),
      );
    },
  });
  return (options, callback) => {
    connect(options, (...outcome) => {
      const [error, socket] = outcome;
      if (error === null && socket.remoteAddress !== undefined && !permits(socket.remoteAddress)) {
        socket.destroy();
        callback(refusal(options.hostname), null);
        return;
      }
      callback(...outcome);
    });
  };
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

function answerLookup(addresses: readonly string[], options: LookupOptions, callback: LookupCallback): void {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = answers;
  if (options.all || !first) callback(null, answers);
  else callback(null, first.address, first.family);
}

async function addressesOf(hostname: string, permits: AddressPolicy, resolve: Resolve): Promise<string[]> {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  // RFC 6761: `localhost` is always loopback, so no name server is asked. The policy can allow one of its two addresses
  // and block the other.
  if (isLocalhost(name)) {
    const open = LOOPBACK.filter(permits);
    if (open.length === 0) throw refusal(hostname);
    return open;
  }
  const addresses = await resolve(hostname).catch((error: NodeJS.ErrnoException) => {
    throw new OutboundError(error.code === 'ETIMEDOUT' ? 'timeout' : 'network', notAllowed(hostname));
  });
  if (addresses.length === 0) throw new OutboundError('network', notAllowed(hostname));
  // One refused address is enough to refuse the whole answer: DNS rebinding begins with a mix of public and private
  // addresses.
  if (!addresses.every(permits)) throw refusal(hostname);
  return [...addresses];
}

function refusal(hostname: string): OutboundError {
  return new OutboundError('blocked', notAllowed(hostname));
}
