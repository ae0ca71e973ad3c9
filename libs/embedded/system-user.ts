import { execFileSync, spawnSync } from 'node:child_process';
import { childEnvironment } from './child-environment.js';

/** The owner of files, or the user that runs a program. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Returns a system user. Creates the user, without a shell, if it is missing.
 * @param setting what the error suggests to set instead
 * @throws Error that says what to do
 */
export function systemUser(name: string, setting: string): Owner {
  const known = lookUp(name);
  if (known) return known;
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name];
  const made = spawnSync('/usr/sbin/useradd', args, { env: childEnvironment() });
  // It is possible that another start has created the user at the same moment.
  const found = lookUp(name);
  if (!found)
    throw new Error(
      `the user ${name} could not be created (${made.error?.message ?? made.stderr.toString().trim()}): ` +
        `create it (\`useradd --system ${name}\`) or set ${setting}`,
    );
  return found;
}

/** Returns whether the user can enter the directory and read the files. */
export function canReach(ids: Owner, directory: string, ...files: readonly string[]): boolean {
  const script = 'cd "$1" || exit 1; shift; for file; do test -r "$file" || exit 1; done';
  return spawnSync('/bin/sh', ['-c', script, 'sh', directory, ...files], { ...ids, cwd: '/' }).status === 0;
}

/** Changes the owner of files and of directories with their contents. */
export function changeOwner({ uid, gid }: Owner, ...paths: readonly string[]): void {
  execFileSync('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...paths], { env: childEnvironment() });
}

function lookUp(name: string): Owner | undefined {
  const id = (option: string) =>
    spawnSync('id', [option, name], { encoding: 'utf8', env: childEnvironment() });
  const [uid, gid] = [id('-u'), id('-g')];
  if (uid.status !== 0 || gid.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
