import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { answerQuestions } from '../peer.js';

/**
 * The mail server of all compared programs, in a separate process. It accepts every mail, reads it to its end, and counts
 * the mails and their different Message-IDs. Its argument is the time in ms that it takes to accept a mail.
 */

/** The mails that arrived since the last call of `expect`. */
export interface ReceivedMails {
  mails: number;
  /** Number of different Message-IDs. */
  distinct: number;
  bytes: number;
}

const ACCEPT_MS = Number(process.argv[2] ?? 0);

let expected = Infinity;
let reached: () => void = () => {};
let ids = new Set<string>();
let mails = 0;
let bytes = 0;

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, callback) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      take(Buffer.concat(chunks));
      if (ACCEPT_MS > 0) setTimeout(callback, ACCEPT_MS);
      else callback();
    });
  },
});
// Errors are ignored, because a client can disconnect during a session.
server.on('error', () => undefined);

function take(raw: Buffer): void {
  mails += 1;
  bytes += raw.length;
  const head = raw.subarray(0, Math.max(0, raw.indexOf('\r\n\r\n'))).toString('latin1');
  const id = /^message-id:\s*<([^>]+)>/im.exec(head)?.[1];
  if (id !== undefined) ids.add(id);
  if (ids.size < expected) return;
  expected = Infinity;
  reached();
}

const listener = server.listen(0, '127.0.0.1');
await once(listener, 'listening');

answerQuestions({
  url: () => `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
  /** Resets the counts. Resolves when mails with `count` different Message-IDs have arrived. */
  expect: (count: number) => {
    ids = new Set();
    mails = 0;
    bytes = 0;
    expected = count;
    return new Promise<void>((resolve) => (reached = resolve));
  },
  received: (): ReceivedMails => ({ mails, distinct: ids.size, bytes }),
});
