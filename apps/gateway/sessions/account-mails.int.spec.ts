import type { OutboundMail } from '#http-out';
import { Refusal } from '#kernel';
import type { Database } from '#postgres';
import { createLogger, type Logger } from '#telemetry';
import { openSpecDatabase, until, type SpecDatabase } from '#testing';
import type { AccountMailWriter } from './account-mail-writer.js';
import { AccountMails } from './account-mails.js';

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());

/**
 * Makes the fifth attempt of a mail whose text cannot be written because of the error.
 * @returns the number of attempts that count; undefined if the mail was given up
 */
async function attemptsAfter(error: Refusal): Promise<number | undefined> {
  await database.query('DELETE FROM account_mails');
  const writer = { write: () => Promise.reject(error) } as unknown as AccountMailWriter;
  const mails = new AccountMails(database, createLogger('spec', 'silent'), {} as never, writer);
  await mails.ask('reset', 'ada@example.org');
  await database.query('UPDATE account_mails SET attempts = 4');
  mails.start();
  await until('the mail was attempted', async () => {
    const due = await database.query<unknown[]>('SELECT 1 FROM account_mails WHERE due_at <= now()');
    return due.length === 0;
  });
  await mails.stop();
  const [kept] = await database.query<{ attempts: number }[]>('SELECT attempts FROM account_mails');
  return kept?.attempts;
}

describe('a mail about an account, while the text of the mail cannot be written,', () => {
  it('is given up after five attempts if a command is refused', async () => {
    expect(await attemptsAfter(Refusal.conflict('no'))).toBeUndefined();
  });

  it('is kept during an outage, and attempts during the outage do not count', async () => {
    expect(await attemptsAfter(Refusal.unavailable('later'))).toBe(4);
  });
});

it('a mail about an account is attempted for more than five minutes, the usual time of greylisting', async () => {
  await database.query('DELETE FROM account_mails');
  const writer = { write: () => Promise.resolve({}) } as unknown as AccountMailWriter;
  const greylisted = { accepted: false, statusCode: 451, isRecipientRefused: false, message: '451 4.7.1' };
  const mail = { send: () => Promise.resolve(greylisted) } as unknown as OutboundMail;
  const mails = new AccountMails(database, createLogger('spec', 'silent'), mail, writer);
  await mails.ask('sign-up', 'ada@example.org');
  mails.start();
  // Before each further attempt, the mail becomes due, and its wait is counted.
  let waited = 0;
  await until('the mail is given up', async () => {
    const [rows]: [{ seconds: number }[]] = await database.query(
      `UPDATE account_mails m SET due_at = now() FROM account_mails old
       WHERE old.mail_id = m.mail_id AND old.due_at > now() AND old.attempts < 5
       RETURNING round(extract(epoch FROM old.due_at - now()))::int AS seconds`,
    );
    waited += rows[0]?.seconds ?? 0;
    return (await database.query<unknown[]>('SELECT 1 FROM account_mails')).length === 0;
  });
  await mails.stop();
  expect(waited).toBeGreaterThan(300);
});

it('a mail about an account is given up if the mail server refuses its recipient, and the log has the reason', async () => {
  await database.query('DELETE FROM account_mails');
  const lines: unknown[] = [];
  const log = { warn: (...line: unknown[]) => lines.push(line) } as unknown as Logger;
  const writer = { write: () => Promise.resolve({}) } as unknown as AccountMailWriter;
  const message = 'the mail server answered 550 5.1.1: it does not accept the address';
  const refused = { accepted: false, statusCode: 550, isRecipientRefused: true, message };
  const mail = { send: () => Promise.resolve(refused) } as unknown as OutboundMail;
  const mails = new AccountMails(database, log, mail, writer);
  await mails.ask('reset', 'ada@example.org');
  mails.start();
  await until('the mail is given up', async () => {
    const waiting = await database.query<unknown[]>('SELECT 1 FROM account_mails');
    return waiting.length === 0;
  });
  await mails.stop();
  expect(lines).toEqual([[{ kind: 'reset', reason: message }, 'a mail about an account was refused']]);
});

it('a mail about an account does not wait for the reply to another mail', async () => {
  await database.query('DELETE FROM account_mails');
  const writer = { write: () => Promise.resolve({}) } as unknown as AccountMailWriter;
  const sent: string[] = [];
  let answer: () => void = () => undefined;
  const outcome = { accepted: true, statusCode: 250, isRecipientRefused: false, message: '' };
  const mail = {
    send: async ({ to }: { to: string }) => {
      sent.push(to);
      if (to === 'late@example.org') await new Promise<void>((resolve) => (answer = resolve));
      return outcome;
    },
  } as unknown as OutboundMail;
  const mails = new AccountMails(database, createLogger('spec', 'silent'), mail, writer);
  await mails.ask('sign-up', 'late@example.org');
  mails.start();
  await until('the first mail is sent', () => sent.length === 1);
  await mails.ask('sign-up', 'ada@example.org');
  await until('the second mail is sent', () => sent.length === 2);
  answer();
  await mails.stop();
});
