import { isIP } from 'node:net';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { within } from '#kernel';
import { MailTurns } from './mail-turns.js';
import { toOutboundError } from './outbound-error.js';

/** Options of the mail client. */
export interface OutboundMailOptions {
  /** `SMTP_URL`: the operator's own server, so its address can be private. */
  url: string;
  /**
   * `MAIL_FROM`. If it is empty, the sender is earshot@ and the host of the server; earshot@localhost if the server is
   * an IP address or a name without a dot.
   */
  from: string;
  /** `SMTP_REQUIRE_TLS` */
  requireTls: boolean;
}

/** One mail to one address. */
export interface OutboundMailMessage {
  /** The account that sends the mail; accounts take turns. Empty for Earshot's own mails. */
  accountId: string;
  to: string;
  /** The same for each attempt, so that a mail server can drop a second copy. */
  messageId: string;
  subject: string;
  text: string;
  html: string;
  /** Headers in addition to those of every mail. */
  headers: Record<string, string>;
  /** Pictures that the HTML refers to by `cid:`. */
  images?: readonly { cid: string; png: Uint8Array }[];
  /** The time limit for connecting, TLS and sending together. It begins with the turn of the mail. */
  deadlineMs: number;
}

/** The outcome of one mail that was accepted or has failed. */
export interface MailOutcome {
  accepted: boolean;
  /** The code of the server's reply; 0 if there was no reply. */
  statusCode: number;
  /** True if the server has refused the recipient permanently (5xx), for a reason that is about the recipient. */
  isRecipientRefused: boolean;
  /** A text for people; empty if the mail was accepted. It contains no text of the server, only its codes. */
  message: string;
}

/** The only client for outbound mail. */
export interface OutboundMail {
  /**
   * Returns true if another mail of the account would probably get a connection in time: fewer than 100 mails of the
   * account wait.
   */
  hasRoom(accountId: string): boolean;
  /**
   * Sends a mail.
   * @returns the outcome; undefined if the mail got no connection within `MAIL_WAIT_MS`, or before `close`: nothing was
   *   sent, and nothing has failed.
   */
  send(mail: OutboundMailMessage): Promise<MailOutcome | undefined>;
  /**
   * Closes the connections. A connection that is sending a mail is closed after this mail. Waiting mails are never sent,
   * and their `send` returns undefined.
   */
  close(): void;
}

/** Maximum number of connections. Mail servers limit the connections of one client, often to 20. */
const CONNECTIONS = 8;
/** How long a mail waits for a connection, in ms. */
export const MAIL_WAIT_MS = 2000;
/**
 * Maximum number of mails of one account that wait for a connection: as many as a usual server takes within
 * `MAIL_WAIT_MS`.
 */
const MAX_WAITING = 100;
/** The time limit of one step: connecting, the greeting, an idle socket. */
const STEP_TIMEOUT_MS = 10_000;
const ACCEPTED: MailOutcome = { accepted: true, statusCode: 250, isRecipientRefused: false, message: '' };

interface SmtpError extends Error {
  code?: string;
  /** The code of Node's error, if there is one. `code` is a code of nodemailer. */
  originalCode?: string;
  command?: string;
  responseCode?: number;
  response?: string;
}

/**
 * Creates the mail client. With `smtps:`, TLS is always used. With `smtp:`, TLS is used if the server offers it, and
 * is required unless the server is on loopback or `requireTls` is false. Certificates are checked, except on loopback.
 */
export function createOutboundMail({ url, from, requireTls }: OutboundMailOptions): OutboundMail {
  const server = new URL(url);
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const isLoopback = /^(127(\.\d+){3}|::1|localhost)$/i.test(host);
  const isTlsFromStart = server.protocol === 'smtps:';
  const transport = createTransport({
    pool: true,
    host,
    port: Number(server.port) || (isTlsFromStart ? 465 : 587),
    secure: isTlsFromStart,
    requireTLS: requireTls && !isLoopback && !isTlsFromStart,
    tls: { rejectUnauthorized: !isLoopback, minVersion: 'TLSv1.2' },
    ...(server.username !== '' && {
      auth: { user: decodeURIComponent(server.username), pass: decodeURIComponent(server.password) },
    }),
    maxConnections: CONNECTIONS,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    // A mail consists of the given bytes only: nodemailer does not read files or URLs that it names.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // The queue inside `transport` sends mails even after their deadline. `MailTurns` keeps that queue empty, unless a mail
  // still uses its connection after its deadline.
  const turns = new MailTurns(CONNECTIONS);
  const sender = from || `Earshot <earshot@${host.includes('.') && isIP(host) === 0 ? host : 'localhost'}>`;
  return {
    hasRoom: (accountId) => turns.waitingOf(accountId) < MAX_WAITING,
    async send({ accountId, deadlineMs, images = [], ...mail }) {
      const startBy = Date.now() + MAIL_WAIT_MS;
      const options: SendMailOptions = {
        ...mail,
        from: sender,
        attachments: images.map(({ cid, png }) => ({
          cid,
          content: Buffer.from(png),
          contentType: 'image/png',
          contentDisposition: 'inline',
          filename: `${cid}.png`,
        })),
      };
      return turns.run(accountId, async () => {
        if (Date.now() > startBy) return undefined;
        const sent = transport.sendMail(options).then((): MailOutcome => ACCEPTED, outcomeOf);
        // The deadline begins here, because the server is not responsible for the time in the queue.
        return (await within(deadlineMs, sent)) ? sent : timedOut(deadlineMs);
      });
    },
    close() {
      turns.clear();
      transport.close();
    },
  };
}

function timedOut(deadlineMs: number): MailOutcome {
  const message = `the mail server did not take the mail within ${deadlineMs / 1000} s`;
  return { accepted: false, statusCode: 0, isRecipientRefused: false, message };
}

/**
 * The codes of a refusal that is not about the recipient. Without an enhanced code (RFC 3463): the protocol (50x), a
 * missing sign-in (53x). Enhanced codes: the sender's address (1.7, 1.8), the server (3), the protocol (5), its policy
 * (7). Servers often check the sender and the client only when they get the recipient, and then refuse every recipient.
 */
const NOT_ABOUT_RECIPIENT = /^5[03]\d $| 5\.(1\.[78]$|[357]\.)/;

function outcomeOf({
  code = '',
  originalCode = '',
  command = '',
  responseCode: statusCode = 0,
  response = '',
}: SmtpError): MailOutcome {
  // The enhanced code names the reason. The text after the code is left out, because the server chooses that text.
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? '';
  const isRecipientRefused =
    command.startsWith('RCPT') && statusCode >= 500 && !NOT_ABOUT_RECIPIENT.test(`${statusCode} ${enhanced}`);
  const failed = { accepted: false, statusCode, isRecipientRefused };
  if (statusCode === 0) {
    const { message } = toOutboundError(
      Object.assign(new Error(), { code: originalCode }),
      'the mail server',
    );
    return { ...failed, message: REASONS[code] ?? message };
  }
  const reason = isRecipientRefused ? 'it does not accept the address' : EXPLAINED[code];
  const answer = ['the mail server answered', statusCode, enhanced].filter(Boolean).join(' ');
  return { ...failed, message: reason ? `${answer}: ${reason}` : answer };
}

/** The texts for errors that the code of the server's reply does not explain, by nodemailer's code. */
const EXPLAINED: Readonly<Record<string, string>> = {
  ETLS: 'TLS with the mail server could not be started',
  EAUTH: 'the sign-in with the user and the password of SMTP_URL failed',
};
/** The texts for errors without a reply of the server, by nodemailer's code. */
const REASONS: Readonly<Record<string, string>> = {
  ...EXPLAINED,
  EENVELOPE: 'the address of the sender or the recipient is not valid',
  EMESSAGE: 'the mail is empty, or larger than the mail server accepts',
  ETIMEDOUT: 'the mail server did not answer in time',
  ECONNECTION: 'the mail server closed the connection',
};
