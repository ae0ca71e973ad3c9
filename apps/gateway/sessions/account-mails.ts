import { Inject, Injectable } from '@nestjs/common';
import type { OutboundMail } from '#http-out';
import { newId, Repeated, within } from '#kernel';
import { refusalFor } from '#outages';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { AccountMailWriter, type MailKind } from './account-mail-writer.js';

/** Injection token of the mail client; null without `SMTP_URL`. */
export const MAIL = Symbol('mail');

const PAUSE_MS = 1000;
/**
 * How long a mail waits after its first attempt. Each further wait is longer by this time, so the five attempts take ten
 * minutes. Usual greylisting refuses a mail for five minutes.
 */
const RETRY_SECONDS = 60;
/** A mail that the mail server does not accept at this attempt, or at a later one, is given up. */
const MAX_ATTEMPTS = 5;
const BATCH_SIZE = 10;
const DEADLINE_MS = 14_000;
/** Together with `DEADLINE_MS` shorter than the first wait: a mail is not repeated while its attempt runs. */
const REPLY_MS = 40_000;
/** The loop does not wait longer than this for mails whose attempts run. */
const LATE_MS = 5_000;

interface Row {
  mail_id: string;
  kind: MailKind;
  email: string;
  attempts: number;
}

/**
 * Sends mails about passwords and sign-ups. A request only stores the address. This loop looks up the account later, so
 * that neither the content nor the duration of the response shows whether an account exists.
 */
@Injectable()
export class AccountMails implements Loop {
  readonly name = 'account-mails';
  /** Number of mails whose attempts run. */
  private running = 0;
  private readonly turns = new Repeated({
    pauseMs: PAUSE_MS,
    run: () => this.sendDue(),
    failed: (error) => this.failed(error),
  });

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
    @Inject(MAIL) private readonly mail: OutboundMail | null,
    private readonly writer: AccountMailWriter,
  ) {}

  start(): void {
    if (this.mail) this.turns.start();
  }

  stop(): Promise<void> {
    return this.turns.stop();
  }

  /** Stores a request for a mail to this address. */
  async ask(kind: MailKind, email: string): Promise<void> {
    await this.database.query('INSERT INTO account_mails (mail_id, kind, email) VALUES ($1, $2, $3)', [
      newId(),
      kind,
      email,
    ]);
  }

  /** @returns whether more mails can be due */
  private async sendDue(): Promise<boolean> {
    const max = BATCH_SIZE - this.running;
    const [rows]: [Row[], number] = await this.database.query(
      `UPDATE account_mails SET attempts = attempts + 1, due_at = now() + (attempts + 1) * interval '${RETRY_SECONDS} seconds'
       WHERE mail_id IN (SELECT mail_id FROM account_mails WHERE due_at <= now()
         ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING mail_id, kind, email, attempts`,
      [max],
    );
    this.running += rows.length;
    const sent = rows.map((row) =>
      this.send(row)
        .catch(this.failed)
        .finally(() => (this.running -= 1)),
    );
    await within(LATE_MS, Promise.all(sent));
    return max > 0 && rows.length === max;
  }

  private readonly failed = (error: unknown): void =>
    this.log.warn({ err: error }, 'mails about accounts could not be sent');

  private async send(row: Row): Promise<void> {
    const { mail_id: mailId, kind, attempts } = row;
    const reason = await this.attempt(row).catch(async (error: unknown) => {
      const { kind: failure, message } = refusalFor(error);
      // Every outage ends, so this attempt does not count. (It counts if Postgres refuses this statement too.)
      // Every other error can come back at each attempt.
      if (failure === 'unavailable')
        await this.database.query('UPDATE account_mails SET attempts = attempts - 1 WHERE mail_id = $1', [
          mailId,
        ]);
      if (attempts < MAX_ATTEMPTS || failure === 'unavailable') throw error;
      return message;
    });
    if (reason !== undefined && attempts < MAX_ATTEMPTS) return;
    if (reason !== undefined) this.log.error({ kind, reason }, 'a mail about an account was given up');
    await this.database.query('DELETE FROM account_mails WHERE mail_id = $1', [mailId]);
  }

  /** @returns the reason if the mail has to be sent again; undefined if it was sent, or if the address gets no mail */
  private async attempt({ mail_id: mailId, kind, email }: Row): Promise<string | undefined> {
    const content = await this.writer.write(kind, email);
    if (!content) return undefined;
    const outcome = await this.mail?.send({
      accountId: '',
      to: email,
      messageId: `<${mailId}@earshot>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      deadlineMs: DEADLINE_MS,
      replyMs: REPLY_MS,
      ...content,
    });
    // This mail would be refused again.
    if (outcome?.isRecipientRefused)
      this.log.warn({ kind, reason: outcome.message }, 'a mail about an account was refused');
    return outcome?.accepted || outcome?.isRecipientRefused
      ? undefined
      : (outcome?.message ?? 'no mail server');
  }
}
