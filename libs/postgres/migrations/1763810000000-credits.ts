import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables of the credit ledger: balances, movements, and reservations for running work. */
export class Credits1763810000000 implements MigrationInterface {
  readonly name = 'Credits1763810000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE credit_balances (
        account_id uuid PRIMARY KEY,
        plan text NOT NULL,
        -- Every period begins on the day of the month of this time.
        opened_at timestamptz(3) NOT NULL,
        period_start timestamptz(3) NOT NULL,
        period_end timestamptz(3) NOT NULL,
        -- The plan's allowance for this period, and the used part of it.
        allowance bigint NOT NULL,
        allowance_used bigint NOT NULL,
        -- [{id, granted, remaining, expiresAt}]
        packs jsonb NOT NULL DEFAULT '[]',
        -- The rest of the allowance and of all packs.
        balance bigint NOT NULL CHECK (balance >= 0),
        -- When the next pack expires or the period ends: the renewal loop reads it.
        turns_at timestamptz(3) NOT NULL,
        -- The last message of the account's subject in CREDITS that is applied. The next append fails if the subject has
        -- a later message.
        seq bigint NOT NULL
      );
      CREATE INDEX credit_balances_turns ON credit_balances (turns_at);
    `);
    await runner.query(`
      CREATE TABLE credit_movements (
        movement_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        -- Its position in the account's ledger: the message in the stream, and the position in the message.
        seq bigint NOT NULL,
        place integer NOT NULL,
        at timestamptz(3) NOT NULL,
        -- When the fact happened that caused the movement.
        fact_at timestamptz(3) NOT NULL,
        -- charge, grant, pack_expiry, renewal, allowance_change; unknown: a newer release wrote the movement
        kind text NOT NULL,
        amount bigint NOT NULL,
        balance_after bigint NOT NULL,
        operation text,
        source text,
        keyword_id uuid,
        watch_id uuid,
        check_id uuid,
        rate bigint,
        units integer,
        price_book_version text,
        reference text NOT NULL
      );
      -- For the pages of the ledger, also filtered by the rare kinds: nearly all movements are charges.
      CREATE INDEX credit_movements_ledger ON credit_movements (account_id, seq DESC, place DESC);
      CREATE INDEX credit_movements_kind ON credit_movements (account_id, kind, seq DESC, place DESC)
        WHERE kind <> 'charge';
      CREATE INDEX credit_movements_source ON credit_movements (account_id, source, seq DESC, place DESC)
        WHERE source IS NOT NULL;
      -- Finds the position of an instant in the ledger.
      CREATE INDEX credit_movements_time ON credit_movements (account_id, at, seq);
      CREATE INDEX credit_movements_keyword ON credit_movements (keyword_id, fact_at) WHERE keyword_id IS NOT NULL;
    `);
    await runner.query(`
      -- The sum of a period's charges: an account may have a million of them.
      CREATE TABLE credit_usage (
        account_id uuid NOT NULL,
        period_start timestamptz(3) NOT NULL,
        source text NOT NULL,
        operation text NOT NULL,
        credits bigint NOT NULL,
        PRIMARY KEY (account_id, period_start, source, operation)
      );
    `);
    await runner.query(`
      CREATE TABLE credit_holds (
        -- The id of the fact that the work will produce: of a check or a lookup.
        hold_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        amount bigint NOT NULL,
        -- After this time the holder counts as dead; infinity: the work is done.
        expires_at timestamptz(3) NOT NULL,
        -- When the work was done: from then on only the charge ends the reservation.
        done_at timestamptz(3)
      );
      CREATE INDEX credit_holds_account ON credit_holds (account_id);
      CREATE INDEX credit_holds_expiry ON credit_holds (expires_at);
      CREATE INDEX credit_holds_done ON credit_holds (done_at) WHERE done_at IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE credit_holds');
    await runner.query('DROP TABLE credit_usage');
    await runner.query('DROP TABLE credit_movements');
    await runner.query('DROP TABLE credit_balances');
  }
}
