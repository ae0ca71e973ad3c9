// Receives events of Earshot: checks the signature, answers immediately, and handles each event once.
//
//   EARSHOT_SIGNING_SECRET=whsec_… PORT=9000 node receiver.js

import { createServer } from 'node:http';
// In a project of your own: import { verifyWebhook, WebhookVerificationError } from '@earshot/client';
import { verifyWebhook, WebhookVerificationError, type Envelope } from '#client';

const { EARSHOT_SIGNING_SECRET: secret = '', PORT = '9000' } = process.env;
if (secret === '') throw new Error('EARSHOT_SIGNING_SECRET is missing');

const MAX_BODY_BYTES = 1024 * 1024;
const REMEMBERED_IDS = 10_000;
/**
 * Ids of handled events, because an event can arrive more than once. Several processes need a database table for these
 * ids.
 */
const handled = new Set<string>();

function handle(event: Envelope): void {
  if (event.type === 'hn_item.created') console.log(event.type, event.id, event.item.title);
  else console.log(event.type, event.id);
}

const server = createServer(async (request, response) => {
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    // Throws if the sender closes the connection before the end of the body.
    for await (const chunk of request) {
      size += (chunk as Buffer).length;
      if (size > MAX_BODY_BYTES) return void response.writeHead(413).end();
      chunks.push(chunk as Buffer);
    }
    const event = await verifyWebhook(Buffer.concat(chunks), request.headers, secret);
    response.writeHead(204).end();
    if (handled.has(event.id)) return;
    handled.add(event.id);
    const [oldest] = handled;
    if (handled.size > REMEMBERED_IDS && oldest !== undefined) handled.delete(oldest);
    handle(event);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError) && !request.errored) console.error(error);
    if (!response.headersSent) response.writeHead(400).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${PORT}`));
