import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, readYaml, ROOT } from './deployment-files.js';

/** A container of deploy/compose.yaml. */
export interface Container {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  env_file?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  restart?: string;
  pids_limit?: number;
  healthcheck?: { test?: string[]; disable?: boolean };
  deploy?: { resources?: { limits?: Record<string, string> } };
  networks?: string[] | Record<string, unknown>;
  ports?: string[];
}

/** deploy/compose.yaml with secrets that make-secrets.sh has made in a temporary directory. */
export class ComposeFile {
  readonly containers = readYaml<{ services: Record<string, Container> }>('deploy/compose.yaml').services;
  readonly directory = mkdtempSync(join(tmpdir(), 'earshot-compose-'));

  constructor() {
    for (const file of ['make-secrets.sh', 'env.example'])
      cpSync(join(ROOT, 'deploy', file), join(this.directory, file));
    this.makeSecrets();
  }

  /** Runs make-secrets.sh. @throws Error with its message if it fails or writes to stderr */
  makeSecrets(): void {
    const { status, stderr } = spawnSync('sh', [join(this.directory, 'make-secrets.sh')], {
      encoding: 'utf8',
    });
    if (status !== 0 || stderr !== '') throw new Error(`make-secrets.sh exited with ${status}: ${stderr}`);
  }

  /** The present content of `.env`. */
  get secrets(): Record<string, string> {
    return parseEnv(readFileSync(join(this.directory, '.env'), 'utf8'));
  }

  /**
   * Returns the variables that a container gets, without those of its `env_file`.
   * @throws Error if a variable needs a value that `.env` does not have
   */
  environmentOf(name: string): Record<string, string> {
    const { secrets } = this;
    const entries = Object.entries(this.containers[name]?.environment ?? {});
    return Object.fromEntries(entries.map(([key, value]) => [key, filledIn(String(value), secrets)]));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/**
 * Fills in `${NAME}`, `${NAME:-default}` and `${NAME:?message}`. Unlike Compose, it also refuses `${NAME}` without a
 * value.
 * @throws Error if a name without a default has no value
 */
function filledIn(text: string, secrets: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest = '') => {
    const value = secrets[name];
    if (value) return value;
    if (kind === '-') return rest;
    throw new Error(`${name} has no value in .env`);
  });
}
