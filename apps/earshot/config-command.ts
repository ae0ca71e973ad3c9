import type { Command } from 'commander';
import { SETTINGS } from '#config';
import { sourceSettings } from '#sources';

/** Adds the command `config`. */
export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('print every setting with its default, and the settings of the sources')
    .action(() => {
      const width = Math.max(...Object.keys(SETTINGS).map((name) => name.length));
      for (const [name, spec] of Object.entries(SETTINGS)) {
        const { default: fallback, desc } = spec as { default?: unknown; desc?: string };
        const value = fallback === undefined || fallback === '' ? '(unset)' : String(fallback);
        process.stdout.write(`${name.padEnd(width)}  ${value.padEnd(9)}  ${desc ?? ''}\n`);
      }
      const ofSources = sourceSettings();
      const wide = Math.max(...ofSources.map(({ name }) => name.length));
      process.stdout.write(`
  For each source (ID in capitals, for example SOURCE_REDDIT_URL):
    SOURCE_<ID>_URL      replaces scheme, host and port of its requests
    SOURCE_<ID>_ENABLED  false disables the source; vinted is disabled unless this is true
    SOURCE_<ID>_LANES    number of lanes that share its work, 1 to 64 (default: 1); each lane belongs to one polling replica

  Further settings of the sources (docs/sources describes how to get the credentials):
${ofSources.map(({ name, description }) => `    ${name.padEnd(wide)}  ${description}`).join('\n')}
`);
    });
}
