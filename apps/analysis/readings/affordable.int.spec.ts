import { balanceOf } from '#credits';
import { ChecksUnderTest } from '../testing/checks-under-test.js';
import { affordable } from './affordable.js';
import type { Readable } from './readable.js';
import { RecentSpending } from './recent-spending.js';

let fixture: ChecksUnderTest;

beforeAll(async () => {
  fixture = await ChecksUnderTest.open();
});
afterAll(() => fixture?.close());

const spendingOfReplica = () => new RecentSpending(Date.now);

/** Items whose analysis costs one credit each. */
function items(accountId: string, ...eventIds: string[]): Readable[] {
  const check = { accountId };
  const item = { source: 'reddit', eventType: 'post.created' };
  return eventIds.map((eventId) => ({ eventId, check, item, settings: { analysis: true } }) as Readable);
}

const ids = (first: number, last: number) =>
  Array.from(
    { length: last - first + 1 },
    (_, n) => `0190f3a0-0000-7000-8000-${String(first + n).padStart(12, '0')}`,
  );

describe('without a language model', () => {
  it('two replicas do not spend the same credits of an account that has few credits [readings.credits]', async () => {
    const { accountId } = await fixture.scene({}, 3);
    const paid = await Promise.all([
      affordable(fixture.database, items(accountId, ...ids(1, 2)), spendingOfReplica()),
      affordable(fixture.database, items(accountId, ...ids(3, 4)), spendingOfReplica()),
    ]);
    expect(paid[0].size + paid[1].size).toBe(3);
  });

  it('a second read of the same items, by another replica, is paid from the same credits [readings.credits]', async () => {
    const { accountId } = await fixture.scene({}, 2);
    for (const spending of [spendingOfReplica(), spendingOfReplica()])
      expect((await affordable(fixture.database, items(accountId, ...ids(5, 6)), spending)).size).toBe(2);
  });

  it('credits are reserved only if few are left, and earlier spending without a reservation reduces what is left [readings.credits]', async () => {
    const { accountId } = await fixture.scene({}, 10_002);
    const spending = spendingOfReplica();
    const reserved = async () => (await balanceOf(fixture.database, accountId))?.reserved;
    expect((await affordable(fixture.database, items(accountId, ...ids(7, 8)), spending)).size).toBe(2);
    expect(await reserved()).toBe(0);
    expect((await affordable(fixture.database, items(accountId, ...ids(9, 10_009)), spending)).size).toBe(
      10_000,
    );
    expect(await reserved()).toBe(10_000);
  });
});
