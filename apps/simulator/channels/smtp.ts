import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Inbox } from './inbox.js';

/** A running mail server that delivers nothing: it stores the mails that it receives. */
export interface SimulatedMail {
  /** For example `smtp://127.0.0.1:2525`. */
  url: string;
  stop(): Promise<void>;
}

/** A received mail: its parsed parts and its source. */
export interface ReceivedMail {
  from: string;
  subject: string;
  messageId: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  text: string;
  html: string;
  attachments: { mimeType: string; contentId: string; bytes: number }[];
  raw: string;
}

interface SmtpError extends Error {
  responseCode: number;
}

/**
 * Starts the mail server. The beginning of a recipient selects the answer: `status-<code>@…` gets this code, if it is
 * 400 or higher; `hang@…` gets no answer; `greylist@…` gets 451 for its first mail only; `stall@…` gets an answer for
 * its first mail only. The server accepts all other recipients.
 */
export async function startMail(inbox: Inbox, host: string, port = 0): Promise<SimulatedMail> {
  const greylisted = new Set<string>();
  const answered = new Set<string>();
  const options: SMTPServerOptions = {
    authOptional: true,
    disabledCommands: ['AUTH'],
    // The server offers no STARTTLS, because its certificate would be self-signed. Earshot accepts a server on loopback
    // without STARTTLS.
    hideSTARTTLS: true,
    disableReverseLookup: true,
    logger: false,
    size: 10 * 1024 * 1024,
    onRcptTo({ address }, _session, callback) {
      const [local = ''] = address.split('@');
      const code = Number(/^status-(\d{3})/.exec(local)?.[1] ?? 0);
      if (local.startsWith('hang')) return;
      if (code >= 400) {
        inbox.add({ service: 'smtp', to: address, status: code, pings: [], text: '', payload: null });
        return callback(
          refusal(code, `${code >= 500 ? '5.1.1' : '4.2.2'} mailbox ${address} is not available`),
        );
      }
      if (local.startsWith('greylist') && !greylisted.has(address)) {
        greylisted.add(address);
        inbox.add({ service: 'smtp', to: address, status: 451, pings: [], text: '', payload: null });
        return callback(refusal(451, '4.7.1 try again later'));
      }
      return callback();
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        PostalMime.parse(raw).then((email) => {
          const payload = mailOf(email, raw);
          const isStalled = envelope.rcptTo.some(
            ({ address }) => address.startsWith('stall') && answered.has(address),
          );
          for (const { address: to } of envelope.rcptTo) {
            answered.add(to);
            inbox.add({
              service: 'smtp',
              to,
              status: isStalled ? 0 : 250,
              fault: faultOf(payload),
              pings: [],
              text: payload.text,
              payload,
            });
          }
          if (!isStalled) callback();
        }, callback);
      });
    },
  };
  const server = new SMTPServer(options);
  // If a client disconnects in the middle of a conversation, the server emits an error. Without a listener, the error
  // would end the process.
  server.on('error', () => undefined);
  const listener = server.listen(port, host);
  await once(listener, 'listening');
  const { port: chosen } = listener.address() as AddressInfo;
  return {
    url: `smtp://${host}:${chosen}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function mailOf(email: Email, raw: Buffer): ReceivedMail {
  return {
    from: email.from?.address ?? '',
    subject: email.subject ?? '',
    messageId: email.messageId ?? '',
    headers: Object.fromEntries(email.headers.map(({ key, value }) => [key, value])),
    text: email.text ?? '',
    html: email.html ?? '',
    attachments: email.attachments.map(({ mimeType, contentId = '', content }) => ({
      mimeType,
      contentId,
      bytes: typeof content === 'string' ? content.length : content.byteLength,
    })),
    raw: raw.toString(),
  };
}

/**
 * Returns what is wrong with a mail: one of six headers is missing, the text part or the HTML part is missing, or a
 * line is longer than 998 bytes. Returns undefined if none of this is wrong.
 */
function faultOf({ headers, text, html, raw }: ReceivedMail): string | undefined {
  const missing = ['from', 'to', 'subject', 'date', 'message-id', 'mime-version'].filter(
    (name) => !headers[name],
  );
  if (missing.length > 0) return `headers are missing: ${missing.join(', ')}`;
  if (text.trim() === '' || html.trim() === '') return 'a part is missing: text or html';
  if (raw.split('\r\n').some((line) => Buffer.byteLength(line) > 998))
    return 'a line is longer than 998 bytes';
  return undefined;
}

function refusal(responseCode: number, message: string): SmtpError {
  return Object.assign(new Error(message), { responseCode });
}
