import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
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

describe('a mail to a server whose reply comes late', () => {
  const DEADLINE_MS = 400;
  /** @param stage at this stage, the server answers only when `answer` is called */
  async function openSlow(stage: 'onRcptTo' | 'onData') {
    let answer: () => void = () => undefined;
    let begun = () => {};
    const hangs = new Promise<void>((resolve) => (begun = resolve));
    let closed = () => {};
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    const wait = (callback: () => void) => {
      answer = callback;
      begun();
    };
    const server = new SMTPServer({
      ...{ authOptional: true, hideSTARTTLS: true, disableReverseLookup: true },
      onClose: () => closed(),
      ...(stage === 'onRcptTo' && { onRcptTo: (_address, _session, callback) => wait(callback) }),
      onData: (stream, _session, callback) => void stream.resume().on('end', () => wait(callback)),
    });
    server.on('error', () => undefined);
    const listener = server.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const mail = createOutboundMail({ url: `smtp://127.0.0.1:${port}`, from: '', requireTls: true });
    return {
      ...{ mail, hangs, isClosed },
      answer: () => answer(),
      async close() {
        mail.close();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      },
    };
  }
  const mailOf = (replyMs?: number) => ({ ...mailTo('ada@example.org'), deadlineMs: DEADLINE_MS, replyMs });

  it('is accepted if the reply to the whole mail comes after the deadline for sending', async () => {
    const server = await openSlow('onData');
    const sent = server.mail.send(mailOf(60_000));
    await server.hangs;
    await new Promise((resolve) => setTimeout(resolve, 2 * DEADLINE_MS));
    server.answer();
    expect(await sent).toMatchObject({ accepted: true });
    await server.close();
  });

  it('fails if the reply to the whole mail does not come in time', async () => {
    const server = await openSlow('onData');
    const message = 'the mail server did not take the mail within 0.3 s';
    expect(await server.mail.send(mailOf(300))).toMatchObject({ accepted: false, message });
    await server.isClosed;
    await server.close();
  });

  it('is never sent after it has failed, because its connection is closed', async () => {
    const server = await openSlow('onRcptTo');
    const message = 'the mail server did not take the mail within 0.4 s';
    expect(await server.mail.send(mailOf(60_000))).toMatchObject({ accepted: false, message });
    await server.isClosed;
    await server.close();
  });
});

describe('a mail that fails', () => {
  /** @param host 0.0.0.0 leads to loopback too, but the rules about TLS apply to it */
  async function outcomeFrom(options: SMTPServerOptions, login = '', host = '127.0.0.1') {
    const server = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      ...options,
    });
    server.on('error', () => undefined);
    const listener = server.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const mail = createOutboundMail({ url: `smtp://${login}${host}:${port}`, from: '', requireTls: true });
    const outcome = await mail.send(mailTo('ada@example.org'));
    mail.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return outcome;
  }
  const refusal = (answer: string) =>
    Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });
  const codesOf = (answer: string) =>
    [answer.slice(0, 3), /[ #]([45]\.\d\.\d)\b(?!\.)/.exec(answer)?.[1]].filter(Boolean).join(' ');
  const refusing = (answer: string): SMTPServerOptions => ({
    onRcptTo: (_address, _session, callback) => callback(refusal(answer)),
  });

  it.each([
    '550 no such mailbox',
    '550 5.1.1 no such mailbox',
    '550 5.1.1 no such mailbox; the policy blocks relaying',
    '550 5.2.1 the mailbox is disabled',
    '550 5.4.1 no such mailbox; access denied',
    '550 <relay@blocked.example.org>: user unknown',
    '511 sorry, no mailbox here by that name (#5.1.1)',
  ])('refuses the recipient permanently if the server answers "%s"', async (answer) => {
    expect(await outcomeFrom(refusing(answer))).toMatchObject({
      isRecipientRefused: true,
      message: `the mail server answered ${codesOf(answer)}: it does not accept the address`,
    });
  });

  it.each([
    '553 5.1.7 the sender is not an address of this user',
    '550 5.1.8 the domain of the sender does not exist',
    '504 5.5.2 the name in EHLO has no dot',
    '554 5.7.1 relay access denied',
    '451 4.7.1 try again later',
    '530 authentication required',
    '503 bad sequence of commands',
    '550 relay not permitted',
    '550 Relaying denied',
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    '550 authentication required',
    '550 Administrative prohibition',
    '550 rejected by the policy of this server',
    '550 Client host [192.0.2.1] is blocked',
    '554 5.6.7.8 is blacklisted',
    '550 Sender verify failed',
    '550 5.0.0 the sender is rejected',
    '550 5.1.0 looks like spam',
    '554 too many mails from this client',
    '550 the rate is too high',
    '550 this account has exceeded the number of mails of a day',
    '550 the daily limit of this account is reached',
    '550 5.4.5 the quota of this account is used up',
    '550 192.0.2.1 is listed at rejected.example.org',
    '554 your IP address is not welcome',
  ])('does not refuse the recipient permanently if the server answers "%s"', async (answer) => {
    expect(await outcomeFrom(refusing(answer))).toMatchObject({
      isRecipientRefused: false,
      message: `the mail server answered ${codesOf(answer)}`,
    });
  });

  it('names the user and the password as the reason if the server refuses them', async () => {
    const options: SMTPServerOptions = {
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => callback(refusal('535 5.7.8 wrong password')),
    };
    expect((await outcomeFrom(options, 'ada:secret@'))?.message).toBe(
      'the mail server answered 535 5.7.8: the sign-in with the user and the password of SMTP_URL failed',
    );
  });

  it('names TLS as the reason if a server outside loopback does not offer STARTTLS', async () => {
    const outcome = await outcomeFrom({ disabledCommands: ['STARTTLS'] }, '', '0.0.0.0');
    expect(outcome?.message).toMatch(
      /^the mail server answered \d+: TLS with the mail server could not be started$/,
    );
  });

  it.each([
    ['MAIL', 'blocked', '550 5.7.1 the sender is blocked', { isRecipientRefused: false, statusCode: 550 }],
    ['RCPT', 'dropped', '550 no such user', { isRecipientRefused: true, statusCode: 550 }],
    ['RCPT', 'deferred', '451 try later', { isRecipientRefused: false, statusCode: 451 }],
  ])(
    'has the reply to %s if the mail is %s and the connection closed',
    async (verb, _how, reply, outcome) => {
      const server = createServer((socket) => {
        socket.write('220 mx\r\n');
        socket.on('error', () => undefined);
        socket.on('data', (data) => {
          for (const line of data.toString().split('\r\n'))
            if (line.startsWith(verb)) return void socket.end(`${reply}\r\n`);
            else if (line.startsWith('EHLO')) socket.write('250-mx\r\n250 PIPELINING\r\n');
            else if (line !== '') socket.write('250 ok\r\n');
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const mail = createOutboundMail({ url: `smtp://127.0.0.1:${port}`, from: '', requireTls: true });
      expect(await mail.send(mailTo('ada@example.org'))).toMatchObject(outcome);
      mail.close();
      server.close();
    },
  );

  it('has the reason of the network if the server cannot be reached', async () => {
    const mail = createOutboundMail({ url: 'smtp://127.0.0.1:1', from: '', requireTls: true });
    const outcome = await mail.send(mailTo('ada@example.org'));
    mail.close();
    expect(outcome?.message).toBe('the mail server refused the connection');
  });
});
