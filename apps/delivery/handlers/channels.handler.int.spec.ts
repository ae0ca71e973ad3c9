import { create } from '@bufbuild/protobuf';
import { ChangeChannelSchema, ChannelConfigSchema, CreateChannelSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId, Outage } from '#kernel';
import { ChannelDecisions } from '../channels/channel-decisions.js';
import { openDelivery, type DeliveryUnderTest } from '../testing/delivery-under-test.js';
import { ChannelsHandler } from './channels.handler.js';

let delivery: DeliveryUnderTest;
let handler: ChannelsHandler;
/** Its store appends, and then fails, so that the transaction is rolled back. */
let unsure: ChannelsHandler;

class UnsureStore extends EventStore {
  override async append(...given: Parameters<EventStore['append']>): Promise<number> {
    await super.append(...given);
    throw new Outage('NATS', new Error('no acknowledgement'));
  }
}

beforeAll(async () => {
  delivery = await openDelivery();
  const { database, bus, store } = delivery;
  handler = new ChannelsHandler(new ChannelDecisions(database, store), database);
  unsure = new ChannelsHandler(new ChannelDecisions(database, new UnsureStore(bus)), database);
});
afterAll(() => delivery?.drop());

let names = 0;
const newAddress = () => `person-${(names += 1)}@example.org`;

const creation = (to: string[]) =>
  create(CreateChannelSchema, {
    ...{ commandId: newId(), accountId: delivery.accountId, kind: 'email', name: 'mail' },
    config: create(ChannelConfigSchema, { to }),
  });
const change = (channelId: string, to?: string[]) =>
  create(ChangeChannelSchema, {
    ...{ commandId: newId(), accountId: delivery.accountId, channelId, name: 'renamed' },
    ...(to && { config: create(ChannelConfigSchema, { to }) }),
  });

/** Returns the number of confirmation mails that wait for the channel. */
async function mailsOf(channelId: string): Promise<number> {
  const rows: unknown[] = await delivery.database.query(
    `SELECT 1 FROM pending_deliveries WHERE target_kind = 'verification' AND watch_id = $1`,
    [channelId],
  );
  return rows.length;
}
/** Deletes the waiting mails, as if they had been sent. */
const sendMails = () => delivery.database.query('DELETE FROM pending_deliveries');

describe('the confirmation mails of an email channel', () => {
  it('are sent once if the creation is repeated after its transaction failed', async () => {
    const command = creation([newAddress(), newAddress()]);
    await expect(unsure.create(command)).rejects.toThrow(Outage);
    expect(await mailsOf(command.commandId)).toBe(0);
    await handler.create(command);
    expect(await mailsOf(command.commandId)).toBe(2);
    await handler.create(command);
    expect(await mailsOf(command.commandId)).toBe(2);
    await sendMails();
    await handler.create(command);
    expect(await mailsOf(command.commandId)).toBe(0);
  });

  it('are sent if the creation is repeated after its decision was projected', async () => {
    const command = creation([newAddress()]);
    await expect(unsure.create(command)).rejects.toThrow(Outage);
    await handler.change(change(command.commandId));
    await handler.create(command);
    expect(await mailsOf(command.commandId)).toBe(1);
  });

  it('are sent to added addresses only, if a change is repeated after its transaction failed', async () => {
    const old = newAddress();
    const made = creation([old]);
    await handler.create(made);
    await sendMails();
    const command = change(made.commandId, [old, newAddress()]);
    await expect(unsure.change(command)).rejects.toThrow(Outage);
    await handler.change(command);
    expect(await mailsOf(made.commandId)).toBe(1);
  });

  it('are not sent again by a change that adds no address, even on a later day', async () => {
    const old = newAddress();
    const made = creation([old]);
    await handler.create(made);
    await sendMails();
    await delivery.database.query('DELETE FROM verification_mails');
    await handler.change(change(made.commandId, [old]));
    expect(await mailsOf(made.commandId)).toBe(0);
  });
});
