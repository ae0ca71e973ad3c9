import type { StoreCommand, StoreHost } from './store-process.js';
import { canReach, giveTo, systemUser, type Owner } from './system-user.js';

const USER = 'earshot';

/**
 * As whom a store runs when we are root: as the system user `earshot` (made when missing), which is given the store's
 * files. Where that user cannot reach the data or the programs (a checkout in /root) the store runs as root, and a line
 * says so.
 * @param programs files that it must be able to read
 * @param own what it writes, and what it reads that others may not
 * @returns undefined to run as we do
 */
export function unprivileged(
  { dataDir, log }: Pick<StoreHost, 'dataDir' | 'log'>,
  name: StoreCommand['name'],
  programs: readonly string[],
  own: readonly string[],
): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const reason = (() => {
    try {
      const owner = systemUser(USER, 'the address of an external store');
      if (!canReach(owner, dataDir, ...programs))
        return `the user ${USER} cannot reach ${dataDir} or its program`;
      giveTo(owner, ...own);
      return owner;
    } catch (error) {
      return (error as Error).message;
    }
  })();
  if (typeof reason !== 'string') return reason;
  log.info(`${name} runs as root: ${reason}`);
  return undefined;
}
