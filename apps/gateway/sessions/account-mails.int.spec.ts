import { Refusal } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import type { AccountMailWriter } from './account-mail-writer.js';
import { AccountMails } from './account-mails.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

/** Makes the last attempt of a mail whose text cannot be written because of the error. @returns whether it is kept */
async function isKeptAfter(error: Refusal): Promise<boolean> {
  await database.query('DELETE FROM account_mails');
  const writer = { write: () => Promise.reject(error) } as unknown as AccountMailWriter;
  const mails = new AccountMails(database, createLogger('spec', 'silent'), {} as never, writer);
  await mails.ask('reset', 'ada@example.org');
  await database.query('UPDATE account_mails SET attempts = 4');
  mails.start();
  await until('the mail was attempted', async () => {
    const waiting = await database.query<unknown[]>('SELECT 1 FROM account_mails WHERE attempts = 4');
    return waiting.length === 0;
  });
  await mails.stop();
  return (await database.query<unknown[]>('SELECT 1 FROM account_mails')).length > 0;
}

describe('a mail about an account whose text cannot be written', () => {
  it('is given up after five attempts if a command is refused', async () => {
    expect(await isKeptAfter(Refusal.conflict('no'))).toBe(false);
  });

  it('is kept during an outage, after any number of attempts', async () => {
    expect(await isKeptAfter(Refusal.unavailable('later'))).toBe(true);
  });
});
