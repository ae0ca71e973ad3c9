import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { verifyDelivery } from '../../apps/simulator/receiver/signature.js';
import { answerQuestions } from '../peer.js';

/**
 * The receiver for all measured programs, in a separate process. It responds with an empty 200, counts new deliveries
 * by `webhook-id`, and checks the signatures of one delivery in a hundred. While hanging is on, it does not respond to
 * requests whose path begins with `/hang/`.
 */

/** The counts of the receiver at the time when it has the expected number of deliveries. */
export interface Received {
  requests: number;
  distinct: number;
  checked: number;
  refused: number;
}

const CHECK_EVERY = 100;

let expected = Infinity;
let reached: (received: Received) => void = () => {};
let seen = new Set<string>();
let counts: Received = { requests: 0, distinct: 0, checked: 0, refused: 0 };
let secret = '';
let isHanging = false;
const hanging = new Set<Socket>();

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (isHanging && request.url?.startsWith('/hang/')) {
    hanging.add(request.socket);
    request.socket.once('close', () => hanging.delete(request.socket));
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => take(request, response, chunks));
});

function take(request: IncomingMessage, response: ServerResponse, chunks: Buffer[]): void {
  counts.requests += 1;
  const id = request.headers['webhook-id'];
  if (typeof id !== 'string') counts.distinct += 1;
  else if (!seen.has(id)) {
    seen.add(id);
    counts.distinct += 1;
    if (counts.distinct % CHECK_EVERY === 0) check(request, Buffer.concat(chunks));
  }
  response.writeHead(200, { 'content-length': 0 });
  response.end();
  if (counts.distinct >= expected) {
    expected = Infinity;
    reached(counts);
  }
}

function check(request: IncomingMessage, body: Buffer): void {
  const { faults } = verifyDelivery(request.headers, body, [secret], Date.now());
  counts.checked += 1;
  if (faults.length > 0) counts.refused += 1;
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve));

answerQuestions({
  url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  secret: (given: string) => {
    secret = given;
  },
  /** Returns when this many distinct deliveries have arrived since the call. */
  expect: (count: number) => {
    seen = new Set();
    counts = { requests: 0, distinct: 0, checked: 0, refused: 0 };
    expected = count;
    return new Promise<Received>((resolve) => (reached = resolve));
  },
  hang: (does: boolean) => {
    isHanging = does;
    for (const socket of hanging) socket.destroy();
  },
});
