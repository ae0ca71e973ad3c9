import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { childEnvironment } from './child-environment.js';

const APT = '/usr/bin/apt-get';

/**
 * Installs a system package without the packages that it only recommends.
 * @throws Error with the reason, such as missing rights
 */
export async function installWithApt(name: string): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !isExecutable(APT))
    throw new Error('only root can install it, with apt-get on Linux');
  await apt(['update', '-qq']);
  await apt(['install', '-y', '-qq', '--no-install-recommends', name]);
}

function apt(args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(APT, args, {
      // The output of apt-get must not get into the standard output of Earshot, which another program may read.
      stdio: ['ignore', 'ignore', 'pipe'],
      env: childEnvironment({ ...proxies(), DEBIAN_FRONTEND: 'noninteractive' }),
    });
    let errorOutput = '';
    child.stderr.on('data', (chunk: Buffer) => (errorOutput = (errorOutput + chunk.toString()).slice(-500)));
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`apt-get failed: ${errorOutput.trim() || `exit code ${code}`}`)),
    );
  });
}

/** Returns the proxy settings of the environment, because apt-get can need a proxy to reach its servers. */
function proxies(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name)),
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
