import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { canReach, systemUser, type Owner } from './system-user.js';

/** As whom, and through what, Postgres's programs are run: it refuses to run as root. */
export interface PostgresAccount {
  /** Whose the files must be; undefined: ours. */
  owner?: Owner;
  /** What goes before the program on the command line; empty as a rule. Changes to the owner by itself. */
  wrap: string[];
}

const CAPABILITY_BITS = { dac_override: 1n, dac_read_search: 2n } as const;

/**
 * The account that can run `program` on a data directory below `directory`: ours, or, when we are root, the user
 * postgres (made when missing).
 *
 * Below a directory that is closed to others (a checkout in /root, as on most servers) the user postgres reaches
 * neither its data nor its own program. It then gets one single capability, to pass through directories, so that
 * the data can stay where the user wants it and /root stays closed.
 *
 * @throws Error with what to do when the machine allows none of this.
 */
export function postgresAccount(directory: string, program: string): PostgresAccount {
  if (process.getuid?.() !== 0) return { wrap: [] };
  const ids = systemUser('postgres', 'DATABASE_URL');
  if (canReach(ids, directory, program)) return { owner: ids, wrap: [] };
  const capability = (['dac_read_search', 'dac_override'] as const).find(weHave);
  const wrap = capability && setpriv(ids, capability);
  if (wrap && spawnSync(wrap[0] as string, [...wrap.slice(1), program, '--version']).status === 0)
    return { owner: ids, wrap };
  throw new Error(
    `Postgres runs as user postgres, which cannot reach ${directory} or ${program}: ` +
      'put the checkout and DATA_DIR outside of closed directories such as /root, or set DATABASE_URL',
  );
}

function weHave(capability: keyof typeof CAPABILITY_BITS): boolean {
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
    // access(2), by which Postgres looks for its own program, otherwise forgets the capability.
    '--securebits=+no_setuid_fixup',
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    '--',
  ];
}
