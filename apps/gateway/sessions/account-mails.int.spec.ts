import { Refusal } from '#kernel';
import type { Database } from '#postgres';
import { createLogger } from '#telemetry';
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

describe('a mail about an account whose text cannot be written', () => {
  it('is given up after five attempts if a command is refused', async () => {
    expect(await attemptsAfter(Refusal.conflict('no'))).toBeUndefined();
  });

  it('is kept during an outage, and attempts during the outage do not count', async () => {
    expect(await attemptsAfter(Refusal.unavailable('later'))).toBe(4);
  });
});
