import type { StoreCommand, StoreHost } from './store-process.js';
import { canReach, changeOwner, systemUser, type Owner } from './system-user.js';

const USER = 'earshot';

/**
 * Returns the user that runs a store if this process is root: the system user `earshot` (created if missing), who
 * becomes the owner of the store's files. If that user cannot be created, or cannot reach the data or the programs (for
 * example because the checkout is in /root), the store runs as root. A log line then reports this.
 * @param programs files that the user must be able to read
 * @param own files that the store writes, and files that only the store is allowed to read
 * @returns undefined to run as this process's user
 */
export function unprivileged(
  { dataDir, log }: Pick<StoreHost, 'dataDir' | 'log'>,
  name: StoreCommand['name'],
  programs: readonly string[],
  own: readonly string[],
): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const ownerOrReason = (() => {
    try {
      const owner = systemUser(USER, 'the address of an external store');
      if (!canReach(owner, dataDir, ...programs))
        return `the user ${USER} cannot reach ${dataDir} or the program of ${name}`;
      changeOwner(owner, ...own);
      return owner;
    } catch (error) {
      return (error as Error).message;
    }
  })();
  if (typeof ownerOrReason !== 'string') return ownerOrReason;
  log.info(`${name} runs as root: ${ownerOrReason}`);
  return undefined;
}
