import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The stories of an account and the labels of its buckets. Readings compare new items with them. */
export class Readings1763910000000 implements MigrationInterface {
  readonly name = 'Readings1763910000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Items that share a key (a link, a part of the text) belong to the same story. A row is kept for 30 days.
      CREATE TABLE stories (
        account_id uuid NOT NULL,
        key text NOT NULL,
        story_id uuid NOT NULL,
        -- A keyword, or a lone watch.
        owner_id uuid NOT NULL,
        -- The event of the owner's first item with this key.
        event_id uuid NOT NULL,
        told_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (account_id, key, owner_id)
      );
      CREATE INDEX stories_owner ON stories (owner_id);
      CREATE INDEX stories_told_at ON stories (told_at);
      -- The first label of a bucket remains its label.
      CREATE TABLE buckets (
        owner_id uuid NOT NULL,
        key text NOT NULL,
        label text NOT NULL,
        PRIMARY KEY (owner_id, key)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE buckets');
    await runner.query('DROP TABLE stories');
  }
}
