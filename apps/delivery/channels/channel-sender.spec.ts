import type { MailOutcome, OutboundDispatcher, OutboundMail, OutboundMailMessage } from '#http-out';
import { AddressLinks } from '#secrets';
import { BatchAttempts } from '../attempts/batch-attempts.js';
import type { Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { ChannelSender } from './channel-sender.js';
import type { Channel } from './channel.js';
import { ChannelPace } from './pace.js';

const PUBLIC_URL = 'https://earshot.example.org';
const accepted: MailOutcome = { accepted: true, statusCode: 250, isRecipientRefused: false, message: '' };

/** A mail server that accepts few mails at the same time, and answers when the spec calls `answer`. */
class SlowMail implements OutboundMail {
  readonly sent: string[] = [];
  private readonly running: (() => void)[] = [];

  constructor(private readonly places: number) {}

  hasRoom(): boolean {
    return this.running.length < this.places;
  }
  send({ to }: OutboundMailMessage): Promise<MailOutcome> {
    this.sent.push(to);
    return new Promise((resolve) => this.running.push(() => resolve(accepted)));
  }
  answer(): void {
    for (const end of this.running.splice(0)) end();
  }
  close(): void {}
}

function deliveryTo(n: number): Delivery {
  const channel: Channel = {
    channelId: `channel-${n}`,
    accountId: 'a',
    name: 'Team',
    state: 'active',
    disabledReason: undefined,
    version: '',
    kind: 'email',
    addresses: [{ address: `n${n}@example.org`, targetId: `target-${n}`, state: 'verified' }],
  };
  return {
    eventId: 'e',
    accountId: 'a',
    watchId: 'w',
    keywordId: 'k',
    source: 'rss',
    endpoint: `channel:channel-${n}`,
    body: new Uint8Array(),
    signing: { secrets: [], legacy: false },
    target: { kind: 'verification', id: `target-${n}` },
    channelKind: 'email',
    attempts: 0,
    firstAt: 0,
    failingSince: undefined,
    pending: false,
    destination: { channel, keywordName: 'Acme', disabledName: undefined, timezone: 'UTC' },
  };
}

it('the sender does not attempt mails while the mail server is busy, and delivers them later without a failed attempt', async () => {
  const mail = new SlowMail(8);
  const links = new AddressLinks('5e'.repeat(32), PUBLIC_URL);
  const settings = { mail, links, publicUrl: PUBLIC_URL };
  const addresses = { slack: '', discord: '', teams: '', telegram: '' };
  const sender = new ChannelSender({} as OutboundDispatcher, settings, addresses, new ChannelPace());
  const queues = new EndpointQueues((one, done) => sender.send(one, done), 8, 128);
  const delivered: Delivery[] = [];
  let waiting = Array.from({ length: 60 }, (_, n) => deliveryTo(n));
  while (waiting.length > 0) {
    const batch = new BatchAttempts(waiting, queues);
    mail.answer();
    await batch.settled;
    const { results, refused, underWay } = batch.close();
    expect(underWay).toEqual([]);
    expect(results.map((one) => one.delivered)).toEqual(Array(Math.min(8, waiting.length)).fill(true));
    delivered.push(...results.map(({ delivery }) => delivery));
    waiting = refused;
  }
  expect(new Set(delivered.map(({ endpoint }) => endpoint)).size).toBe(60);
  expect(mail.sent.length).toBe(60);
});

it('ChannelPace remembers a pause for at most 10 s, because later the table of endpoints contains the pause', () => {
  const pace = new ChannelPace();
  pace.pause('channel:a', 'slack', 3_600_000, 0);
  expect([pace.isPaused('channel:a', 9_999), pace.full(9_999)]).toEqual([true, ['channel:a']]);
  // Meanwhile a user can have changed the address of the channel. This change deletes the row, so the pause ends.
  expect([pace.isPaused('channel:a', 10_000), pace.full(10_000)]).toEqual([false, []]);
});
