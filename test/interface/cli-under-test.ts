import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';
import type { InterfaceUnderTest, Tenant } from './interface-under-test.js';

/** Path of the command line's program. */
export const CLI = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));

/** The environment in which the command line uses the account of a tenant. */
export const envOf = (service: InterfaceUnderTest, { api }: Tenant) => ({
  ...process.env,
  EARSHOT_URL: service.url,
  EARSHOT_API_KEY: api.apiKey,
});

/** Runs one command. */
export function cli(
  env: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<{ code: number; out: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...words], { env }, (error, out, errors) =>
      resolve({ code: error ? Number(error.code) : 0, out, errors }),
    );
  });
}
