import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server on loopback. */
export interface NameServer {
  /** Address and port. */
  address: string;
  /** The names of all questions until now. */
  asked: string[];
  close(): void;
}

const A = 1;
/** The codes of answers without an address (RFC 1035, section 4.1.1). */
const CODES: Readonly<Record<string, number>> = { empty: 0, failed: 2, unknown: 3 };
/** A pointer to the name in the question (RFC 1035, section 4.1.4). */
const SAME_NAME = [0xc0, 0x0c];

/**
 * Starts a name server.
 * @param answerOf returns the IPv4 address of a name, `empty` if the name has no address, `failed` if the server cannot
 *   look it up, `unknown` if the name does not exist, or `silent` for no answer
 */
export async function startNameServer(answerOf: (name: string) => string): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, from) => {
    const { name, end } = nameIn(question);
    const answer = answerOf(name);
    asked.push(name);
    if (answer !== 'silent') socket.send(answerTo(question, end, answer), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() };
}

/** Reads the name of a question. `end` is the position after the question. */
function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length; (length = question[at] ?? 0) > 0; at += length + 1)
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

function answerTo(question: Buffer, end: number, answer: string): Buffer {
  const asksForA = question.readUInt16BE(end - 4) === A;
  const code = CODES[answer];
  const hasAddress = code === undefined && asksForA;
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(0x8180 | (code ?? 0), 2);
  head.writeUInt16BE(hasAddress ? 1 : 0, 6);
  head.fill(0, 8, 12);
  if (!hasAddress) return head;
  const address = answer.split('.').map(Number);
  return Buffer.concat([head, Buffer.from([...SAME_NAME, 0, A, 0, 1, 0, 0, 0, 60, 0, 4, ...address])]);
}
