import { fromBinary } from '@bufbuild/protobuf';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { DigestAssembledSchema, type Digest } from '#contracts';
import { connectBus } from '#messaging';
import { AddressLinks } from '#secrets';
import { createLogger } from '#telemetry';
import { digestMessage } from '../../apps/delivery/channels/digest-message.js';
import { renderMail } from '../../apps/delivery/channels/email/render.js';
import { answerQuestions } from '../peer.js';
import { MASTER_KEY } from '../program.js';
import { addressOf, PUBLIC_URL } from './scene.js';

/** The baseline: nodemailer's `sendMail` in a loop, which does not read, retry or record anything. */

/** What to send, and how. */
export interface BareMails {
  natsUrl: string;
  smtpUrl: string;
  /**
   * Number of connections to the mail server, which is also the number of mails that are sent at the same
   * time.
   */
  connections: number;
}

const links = new AddressLinks(MASTER_KEY, PUBLIC_URL);
let ready: SendMailOptions[] = [];
let plan: BareMails | undefined;

answerQuestions({
  /** Renders the digests of DIGESTS without sending them. Returns their number. */
  async fill(given: BareMails) {
    plan = given;
    ready = await renderedDigests(given.natsUrl);
    return ready.length;
  },
  async send() {
    if (!plan) throw new Error('nothing to send');
    const { connections, smtpUrl } = plan;
    const { hostname: host, port } = new URL(smtpUrl);
    const transport = createTransport({ pool: true, host, port: Number(port), maxConnections: connections });
    let sent = 0;
    const runner = async () => {
      for (let mail; (mail = ready[sent]);) {
        sent += 1;
        await transport.sendMail(mail);
      }
    };
    await Promise.all(Array.from({ length: connections }, runner));
    transport.close();
  },
});

async function renderedDigests(natsUrl: string): Promise<SendMailOptions[]> {
  const bus = await connectBus(natsUrl, 'bare-mailer', createLogger('bench', 'error'));
  const { last_seq: last } = (await bus.jsm.streams.info('DIGESTS')).state;
  const rendered: SendMailOptions[] = [];
  const consumer = await bus.js.consumers.get('DIGESTS');
  for await (const message of await consumer.consume()) {
    rendered.push(mailOf(message.data));
    if (message.seq >= last) break;
  }
  await bus.close();
  return rendered;
}

/** Returns the mail that the delivery service sends, with another Message-ID. */
function mailOf(data: Uint8Array): SendMailOptions {
  const { digestId, accountId, channelId, body } = fromBinary(DigestAssembledSchema, data);
  const to = addressOf(channelId);
  const unsubscribe = links.urlOf('unsubscribe', { accountId, channelId, address: to }, Date.now());
  const message = digestMessage(JSON.parse(Buffer.from(body).toString()) as Digest);
  const { subject, text, html } = renderMail(message, [{ label: 'Unsubscribe', url: unsubscribe }]);
  return {
    ...{ to, subject, text, html },
    from: 'Earshot <earshot@localhost>',
    messageId: `<${digestId}.${channelId}.bare@127.0.0.1>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `<${channelId}.channels.earshot.invalid>`,
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
}
