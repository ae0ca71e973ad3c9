import { create } from '@bufbuild/protobuf';
import { ChannelConfigSchema } from '#contracts';
import { newId } from '#kernel';
import { isOnlyKey } from '#platform';
import { SecretBox } from '#secrets';
import { openDelivery, type DeliveryUnderTest } from '../testing/delivery-under-test.js';
import { ChannelDecisions } from './channel-decisions.js';

const [OLD, NEW, FOREIGN] = ['5e', '7a', 'ab'].map((byte) => byte.repeat(32)) as [string, string, string];

let delivery: DeliveryUnderTest;

beforeAll(async () => {
  delivery = await openDelivery();
});
afterAll(() => delivery?.drop());

async function restart(MASTER_KEY: string): Promise<void> {
  const service = await delivery.start({ MASTER_KEY });
  await service.stop(5_000);
}

describe('the rotation of MASTER_KEY', () => {
  it('is finished by delivery after the secret of every channel is encrypted with the new key', async () => {
    const { database, store, accountId, secret } = delivery;
    const decisions = new ChannelDecisions(database, store);
    const channel = async (masterKey: string) => {
      const channelId = newId();
      const secretEncrypted = new SecretBox(masterKey).seal('https://hooks.example.org/x');
      const config = create(ChannelConfigSchema, { secretEncrypted, secretLast4: 'rg/x' });
      const command = { kind: 'create', channelKind: 'slack', name: 'alerts', config, existing: 0 } as const;
      await decisions.run({ accountId, channelId }, newId(), command);
      return { accountId, channelId };
    };
    await restart(OLD);
    const [readable, unreadable] = [await channel(OLD), await channel(FOREIGN)];
    // Billing has encrypted the secrets of accounts.
    await database.query('UPDATE accounts SET signing_secret_encrypted = $1', [
      new SecretBox(NEW).seal(secret),
    ]);
    await restart(`${NEW},${OLD}`);
    const [row]: { secret_encrypted: Buffer }[] = await database.query(
      'SELECT secret_encrypted FROM channels WHERE channel_id = $1',
      [readable.channelId],
    );
    expect(new SecretBox(NEW).open(row!.secret_encrypted)).toBe('https://hooks.example.org/x');
    expect(await isOnlyKey(database, NEW)).toBe(false);
    await expect(restart(NEW)).rejects.toThrow('Put the right key back');
    await decisions.run(unreadable, newId(), { kind: 'delete' });
    await restart(`${NEW},${OLD}`);
    expect(await isOnlyKey(database, NEW)).toBe(true);
    await restart(NEW);
  }, 60_000);
});
