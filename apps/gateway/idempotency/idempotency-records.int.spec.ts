import { newId } from '#kernel';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { IdempotencyRecords, type KeyedRequest } from './idempotency-records.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
let spec: SpecDatabase;
let records: IdempotencyRecords;
let request: KeyedRequest;
let commandId: string;

beforeAll(async () => {
  spec = await openSpecDatabase();
  records = new IdempotencyRecords(spec.database);
});
afterAll(() => spec?.drop());

/** Begins a request with a key. */
beforeEach(async () => {
  request = { accountId: newId(), key: 'k', hash: Buffer.from('a body'), runner: newId() };
  commandId = newId();
  expect(await records.claim(request, commandId, NOW)).toMatchObject({ kind: 'run', repeats: false });
});

const purge = (keywordId: string, of = request.accountId, at = NOW) =>
  spec.database.query('INSERT INTO purged_keywords (keyword_id, account_id, purged_at) VALUES ($1, $2, $3)', [
    keywordId,
    of,
    new Date(at),
  ]);
const keep = (body: unknown) => records.keep(request, { status: 200, body: JSON.stringify(body) });
/** Returns what a repetition of the request gets. */
const repeated = () => records.claim({ ...request, runner: newId() }, newId(), NOW + 1);
const replayOf = (body: unknown, status = 200) => ({
  kind: 'replay',
  outcome: { status, body: JSON.stringify(body) },
});

describe('the answer of a request with an Idempotency-Key', () => {
  it('is not stored if it can contain texts of a keyword that was purged while the request ran', async () => {
    await purge(newId());
    await keep({ mentionId: newId(), text: 'of a purged mention' });
    const stored = await spec.database.query(
      'SELECT status, body FROM idempotency_records WHERE account_id = $1',
      [request.accountId],
    );
    expect(stored).toEqual([{ status: null, body: null }]);
    expect(await repeated()).toEqual({ kind: 'run', commandId, repeats: true });
  });

  it('is 404 if the keyword in the answer was purged while the request ran', async () => {
    const keywordId = newId();
    await purge(keywordId);
    await keep({ keywordId, name: 'a purged name' });
    expect(await repeated()).toEqual(replayOf({ error: 'keyword not found', code: 'NOT_FOUND' }, 404));
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['a purge meanwhile, if it has no texts of the keyword', () => purge(newId()), 'id'],
    ['an earlier purge', () => purge(newId(), request.accountId, NOW - 20_000), 'mentionId'],
    ['a purge of another account', () => purge(newId(), newId()), 'mentionId'],
  ])('is kept after %s', async (_, purged, name) => {
    const answer = { [name]: newId() };
    await purged();
    await keep(answer);
    expect(await repeated()).toEqual(replayOf(answer));
  });

  it('is kept without the webhook address if a keyword was purged while a resend ran', async () => {
    const answer = { eventId: newId(), endpoint: 'https://a.example/', target: { kind: 'resend' } };
    await purge(newId());
    await keep(answer);
    expect(await repeated()).toEqual(replayOf({ ...answer, endpoint: '' }));
  });

  it('is kept without the webhook address after a purge, so that the event is not sent again', async () => {
    const answer = { eventId: newId(), endpoint: 'https://a.example/"\\x', target: { kind: 'resend' } };
    await keep(answer);
    await records.forgetKeywords(request.accountId, [newId()]);
    expect(await repeated()).toEqual(replayOf({ ...answer, endpoint: '' }));
  });
});
