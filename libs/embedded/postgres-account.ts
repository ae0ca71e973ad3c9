import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { canReach, systemUser, type Owner } from './system-user.js';

/** The user and command prefix for Postgres's programs, which refuse to run as root. */
export interface PostgresAccount {
  /** The owner that the files must have; undefined: this process's user. */
  owner?: Owner;
  /** A command that changes to the owner. It is put before the program on the command line. Usually empty. */
  wrap: string[];
}

const CAPABILITY_BITS = { dac_override: 1n, dac_read_search: 2n } as const;

/**
 * Returns the account that can run `program` on a data directory below `directory`: this process's user, or, if that is
 * root, the user postgres (created if missing). If a parent directory is closed to others (as /root is on most
 * servers), the user postgres cannot reach the data or the program. Then the program gets one capability, with which it
 * can pass through closed directories. So the data can stay there, and the parent directory stays closed.
 * @throws Error if none of this is possible; the message of the error says what to do
 */
export function postgresAccount(directory: string, program: string): PostgresAccount {
  if (process.getuid?.() !== 0) return { wrap: [] };
  const ids = systemUser('postgres', 'DATABASE_URL');
  if (canReach(ids, directory, program)) return { owner: ids, wrap: [] };
  const capability = (['dac_read_search', 'dac_override'] as const).find(hasCapability);
  const wrap = capability && setpriv(ids, capability);
  if (wrap && spawnSync(wrap[0] as string, [...wrap.slice(1), program, '--version']).status === 0)
    return { owner: ids, wrap };
  throw new Error(
    `Postgres runs as user postgres, who cannot reach ${directory} or ${program}: ` +
      'put the checkout and DATA_DIR outside of closed directories such as /root, or set DATABASE_URL',
  );
}

function hasCapability(capability: keyof typeof CAPABILITY_BITS): boolean {
  try {
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return effective !== undefined && ((BigInt(`0x${effective}`) >> CAPABILITY_BITS[capability]) & 1n) === 1n;
  } catch {
    return false;
  }
}

function setpriv(ids: Owner, capability: string): string[] {
  return [
    'setpriv',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    // Postgres looks for its own program with access(2), which ignores the capability without this option.
    '--securebits=+no_setuid_fixup',
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    '--',
  ];
}
