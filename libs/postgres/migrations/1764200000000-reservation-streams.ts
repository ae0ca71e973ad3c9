import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a column to the reservations: the stream that contains the fact of the finished work. Without this column, one
 * fact that cannot be charged would keep the reservations of all streams.
 */
export class ReservationStreams1764200000000 implements MigrationInterface {
  readonly name = 'ReservationStreams1764200000000';

  async up(runner: QueryRunner): Promise<void> {
    // NULL while the work runs, and in rows of the release before this one.
    await runner.query('ALTER TABLE credit_reservations ADD COLUMN stream text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE credit_reservations DROP COLUMN stream');
  }
}
