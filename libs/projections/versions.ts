import { setTimeout as wait } from 'node:timers/promises';
import { SettingsError } from '#config';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { versionOf, type Projection } from './projection.js';
import { rebuildProjection, RebuildUnderWay } from './rebuild.js';

const LOOK_AGAIN_MS = 1000;
const LOG_EVERY_MS = 5000;

/**
 * Brings the tables to the version of this release. Call this function before this release reads or writes the tables.
 * One replica rebuilds older tables and the other new replicas wait, while the replicas of the older release continue.
 * @throws SettingsError if the tables are newer, or are older and the projection has no rebuild
 * @throws Error if the rebuild fails
 */
export async function bringToVersion(
  database: Database,
  bus: Bus,
  projection: Projection,
  log: Logger,
): Promise<void> {
  const { name, rebuild } = projection;
  const wanted = versionOf(projection);
  for (;;) {
    const version = await versionInPlace(database, projection);
    if (version === wanted) return;
    if (version > wanted)
      throw new SettingsError(
        `The tables of ${name} are at version ${version}, and this release knows version ${wanted}: a newer release has rebuilt them.\n` +
          `Start the newer release. To go back to this one, stop the newer release and run: projections rebuild ${name}`,
      );
    if (!rebuild)
      throw new SettingsError(
        `The tables of ${name} are at version ${version} and cannot be rebuilt as version ${wanted}.`,
      );
    let loggedAt = 0;
    try {
      await rebuildProjection(database, bus, { ...projection, rebuild }, (progress) => {
        if (loggedAt === 0)
          log.warn(
            { projection: name, from: version, to: wanted },
            'rebuilding the tables beside the old ones',
          );
        if (progress.phase === 'build' && Date.now() - loggedAt < LOG_EVERY_MS) return;
        loggedAt = Date.now();
        log.info({ projection: name, ...progress }, 'rebuilding');
      });
    } catch (error) {
      if (!(error instanceof RebuildUnderWay)) throw error;
      log.info({ projection: name }, 'another replica is rebuilding the tables');
      await wait(LOOK_AGAIN_MS);
    }
  }
}

/**
 * Returns the version of the live tables. If the projection has neither positions nor a stored version, stores the
 * version of this release first. The version is 1 if the tables were filled before versions were stored.
 */
async function versionInPlace(database: Database, projection: Projection): Promise<number> {
  await database.query(
    `INSERT INTO projection_versions (projection, version)
     SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM projection_positions WHERE projection = $1) ON CONFLICT DO NOTHING`,
    [projection.name, versionOf(projection)],
  );
  const rows: { version: number }[] = await database.query(
    'SELECT version FROM projection_versions WHERE projection = $1',
    [projection.name],
  );
  return rows[0]?.version ?? 1;
}
