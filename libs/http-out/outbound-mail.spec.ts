import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { createOutboundMail, type OutboundMail, type OutboundMailMessage } from './outbound-mail.js';

const ANSWER_AFTER_MS = 200;
const mailTo = (to: string): OutboundMailMessage => ({
  accountId: 'a',
  to,
  messageId: `<${to}>`,
  subject: 'Acme',
  text: 'text',
  html: '<p>text</p>',
  headers: {},
  // Longer than one mail takes. 60 mails of one account use 4 of the 8 connections and take at least 3000 ms, so the
  // last mails wait longer than this.
  deadlineMs: 1200,
});
const addresses = (count: number) => Array.from({ length: count }, (_, n) => `n${n}@example.org`);

describe('the mail client', () => {
  let received: string[];
  let server: SMTPServer;
  let mail: OutboundMail;

  beforeEach(async () => {
    received = [];
    server = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      onData(stream, { envelope }, callback) {
        stream.resume().on('end', () => {
          received.push(...envelope.rcptTo.map(({ address }) => address));
          setTimeout(callback, ANSWER_AFTER_MS);
        });
      },
    });
    server.on('error', () => undefined);
    const listener = server.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    mail = createOutboundMail({ url: `smtp://127.0.0.1:${port}`, from: '', requireTls: true });
  });
  afterEach(async () => {
    mail.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  it('delivers 60 mails to a slow server, because the deadline of a mail does not include its wait', async () => {
    const sent = await Promise.all(
      addresses(60).map(async (to) => {
        let outcome = await mail.send(mailTo(to));
        while (!outcome) outcome = await mail.send(mailTo(to));
        return outcome;
      }),
    );
    expect(sent.filter(({ accepted }) => !accepted)).toEqual([]);
    expect(received.sort()).toEqual(addresses(60).sort());
  });

  it('has room for a hundred waiting mails of an account, and finishes each mail that it has begun to send', async () => {
    const sent = addresses(108).map((to) => mail.send(mailTo(to)));
    expect([mail.hasRoom('a'), mail.hasRoom('b')]).toEqual([false, true]);
    const outcomes = await Promise.all(sent);
    expect(mail.hasRoom('a')).toBe(true);
    expect(outcomes.filter((one) => one?.accepted === false)).toEqual([]);
    // Mails without an outcome were not sent: no recipient gets a mail twice.
    expect(received.length).toBe(outcomes.filter((one) => one?.accepted).length);
  });
});
