import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readSettings } from '#config';
import { masterKeys } from '#secrets';
import { print } from './arguments.js';
import { newKey, readMasterKey, rotateMasterKey } from './master-key.js';

/** Adds the command `master-key rotate`. */
export function addMasterKeyCommands(program: Command): void {
  program
    .command('master-key')
    .description('manage the key that encrypts secrets at rest')
    .command('rotate')
    .description(
      'create a new key; the next start encrypts every stored secret with it and removes the old key. If MASTER_KEY is ' +
        'set, print the value of MASTER_KEY for the next start of every service; later, use only the part before the comma',
    )
    .action(() => {
      const settings = readSettings(['DATA_DIR', 'MASTER_KEY'], process.env);
      if (settings.MASTER_KEY)
        return print({ masterKey: `${newKey()},${masterKeys(settings.MASTER_KEY)[0]}` });
      const dataDir = resolve(settings.DATA_DIR);
      const demo = resolve(dataDir, 'demo');
      const found =
        readMasterKey(dataDir) === undefined && readMasterKey(demo) !== undefined ? demo : dataDir;
      rotateMasterKey(found);
      print({ rotated: true, dataDir: found, takesEffect: 'next start' });
    });
}
