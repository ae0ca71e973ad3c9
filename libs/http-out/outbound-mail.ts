import { isIP } from 'node:net';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type MimeNode from 'nodemailer/lib/mime-node';
import {
  ACCEPTED,
  outcomeOf,
  refusalIn,
  timedOut,
  type MailOutcome,
  type RefusedEnvelope,
} from './mail-outcome.js';
import { MailTurns } from './mail-turns.js';

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
  /** The time limit for connecting, TLS and sending the whole mail. It begins with the turn of the mail. */
  deadlineMs: number;
  /**
   * The time limit for the reply to the whole mail. If it is too short, the server can have accepted a mail that counts as
   * failed, and the recipient gets it again. Default: `REPLY_TIMEOUT_MS`.
   */
  replyMs?: number;
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

/**
 * Maximum number of connections, and of further connections on which only a late reply is missing. Mail servers limit the
 * connections of one client, often to 20.
 */
const CONNECTIONS = 8;
const LATE_REPLIES = 8;
/** How long a mail waits for a connection, in ms. */
export const MAIL_WAIT_MS = 2000;
/**
 * Maximum number of mails of one account that wait for a connection: as many as a usual server takes within
 * `MAIL_WAIT_MS`.
 */
const MAX_WAITING = 100;
/** The time limit of one step: connecting, the greeting. Also, how long a connection without a mail stays open. */
const STEP_TIMEOUT_MS = 10_000;
/** RFC 5321, 4.5.3.2.6: a server can need 10 minutes for its reply to the end of a mail. */
const REPLY_TIMEOUT_MS = 600_000;

/** The data of one mail for nodemailer. */
interface Sending extends SendMailOptions {
  /** Called when the mail was written in MIME, before it is sent. */
  composed(message: MimeNode): void;
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
    maxConnections: CONNECTIONS + LATE_REPLIES,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    idleTimeout: STEP_TIMEOUT_MS,
    // A mail has its own time limits. This limit only closes connections that are left.
    socketTimeout: 2 * REPLY_TIMEOUT_MS,
    // A mail consists of the given bytes only: nodemailer does not read files or URLs that it names.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  transport.use('stream', ({ data, message }, done) => {
    (data as Sending).composed(message);
    done();
  });
  // `MailTurns` keeps the queue inside `transport` empty.
  const turns = new MailTurns(CONNECTIONS, LATE_REPLIES);
  const sender = from || `Earshot <earshot@${host.includes('.') && isIP(host) === 0 ? host : 'localhost'}>`;
  return {
    hasRoom: (accountId) => turns.waitingOf(accountId) < MAX_WAITING,
    async send({ accountId, deadlineMs, replyMs = REPLY_TIMEOUT_MS, images = [], ...mail }) {
      const startBy = Date.now() + MAIL_WAIT_MS;
      const options = {
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
      return turns.run(accountId, async (hasWholeMail) => {
        if (Date.now() > startBy) return undefined;
        // The deadline begins here, because the server is not responsible for the time in the queue. At the time limit, the
        // connection is closed: a mail that counts as failed is not sent any more.
        const limit = new TimeLimit(deadlineMs);
        let envelope: RefusedEnvelope | undefined;
        const composed = (message: MimeNode) => {
          envelope = message.setEnvelope({ from: sender, to: mail.to }).getEnvelope() as RefusedEnvelope;
          message.processFunc((bytes) =>
            bytes.once('end', () => {
              limit.restart(replyMs);
              hasWholeMail();
            }),
          );
        };
        const sending: Sending = { ...options, composed, signal: limit.signal };
        return transport
          .sendMail(sending)
          .then(
            () => ACCEPTED,
            (error) => (limit.signal.aborted ? timedOut(limit.ms) : outcomeOf(refusalIn(envelope) ?? error)),
          )
          .finally(() => limit.clear());
      });
    },
    close() {
      turns.clear();
      transport.close();
    },
  };
}

/** A signal that is aborted at a time limit. */
class TimeLimit {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(public ms: number) {
    this.restart(ms);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Begins a new limit of this time. */
  restart(ms: number): void {
    this.clear();
    this.ms = ms;
    this.timer = setTimeout(() => this.controller.abort(), ms);
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}
