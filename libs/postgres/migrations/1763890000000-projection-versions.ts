import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The version of each projection in the tables. */
export class ProjectionVersions1763890000000 implements MigrationInterface {
  readonly name = 'ProjectionVersions1763890000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- A projection without a row is at version 1.
      CREATE TABLE projection_versions (
        projection text PRIMARY KEY,
        version integer NOT NULL,
        -- When its tables were last built from the stream.
        built_at timestamptz(3) NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE projection_versions');
  }
}
