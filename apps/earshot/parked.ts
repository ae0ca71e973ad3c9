import type { Command } from 'commander';
import type { StoredMsg } from '@nats-io/jetstream';
import { headers as natsHeaders } from '@nats-io/nats-core';
import { getMessage, RETRIED_HEADER, STREAMS, type Bus, type StreamName } from '#messaging';
import { print, wholeNumber } from './arguments.js';
import { withBus } from './connection.js';

/** Adds `parked list`, `parked retry` and `parked remove`. */
export function addParkedCommands(program: Command): void {
  const parked = program
    .command('parked')
    .description('manage messages that could not be processed and were set aside');
  parked
    .command('list')
    .description('print one line of JSON for each message')
    .action(async () => {
      for (const message of await withBus(process.env, listParked)) print(message);
    });
  parked
    .command('retry')
    .description(
      'send a parked message to its stream again, and remove it from the list; a webhook can then get an event a ' +
        'second time, with the same id',
    )
    .argument('<seq>', 'number of the message in parked list', wholeNumber)
    .action(async (seq: number) => {
      print(await withBus(process.env, (bus) => retryParked(bus, seq)));
    });
  parked
    .command('remove')
    .description('remove a parked message from the list; the consumer that parked it never processes it')
    .argument('<seq>', 'number of the message in parked list', wholeNumber)
    .action(async (seq: number) => {
      print(await withBus(process.env, (bus) => removeParked(bus, seq)));
    });
}

/** A parked message. */
export interface ParkedMessage {
  /** The number of the message in PARKED, which is the argument of `parked retry` and `parked remove`. */
  seq: number;
  at: string;
  stream: string;
  consumer: string;
  subject: string;
  reason: string;
}

/** Returns every parked message, oldest first. */
export async function listParked(bus: Bus): Promise<ParkedMessage[]> {
  const { state } = await bus.jsm.streams.info('PARKED');
  const found: ParkedMessage[] = [];
  let seq = state.first_seq;
  while (state.messages > 0 && seq <= state.last_seq) {
    const message = await getMessage(bus, 'PARKED', { seq, next_by_subj: 'parked.>' });
    if (!message) break;
    const header = (name: string) => message.header.get(name);
    found.push({
      seq: message.seq,
      at: message.time.toISOString(),
      stream: header('earshot-stream'),
      consumer: consumerIn(message.subject),
      subject: header('earshot-subject'),
      reason: header('earshot-reason'),
    });
    seq = message.seq + 1;
  }
  return found;
}

/**
 * Sends a copy of a parked message to its subject, and removes the message from the list. Every consumer of the stream
 * receives the copy. Consumers that have already processed the fact in the message change nothing, because their rows
 * have the fact's id as key. But a receiver can get an event again, with the same id.
 * @throws Error if there is no such message, or if it is a decision. Decisions are not parked, but earlier releases
 *   parked some of them
 */
export async function retryParked(
  bus: Bus,
  seq: number,
): Promise<{ seq: number; subject: string; retried: true }> {
  const message = await parkedMessage(bus, seq);
  const stream = message.header.get('earshot-stream') as StreamName;
  // A newer release can have parked a message of a stream that this release does not know.
  if (STREAMS[stream]?.decisions) throw new Error(decisionText(message, stream));
  const subject = message.header.get('earshot-subject');
  const headers = natsHeaders();
  headers.set(RETRIED_HEADER, String(seq));
  await bus.js.publish(subject, message.data, { headers, expect: { streamName: stream } });
  await bus.jsm.streams.deleteMessage('PARKED', seq);
  return { seq, subject, retried: true };
}

function decisionText({ seq, subject }: StoredMsg, stream: StreamName): string {
  return (
    `Message ${seq} is a decision, which an earlier release has parked. It cannot be retried: ${stream} would contain ` +
    'the decision twice, and the decision would change the data again. Only the consumer ' +
    `${consumerIn(subject)} has not processed it; "Parked messages" in docs/operations.md says what is missing ` +
    'and how to repair this. ' +
    `Then remove the message: npm run -s cli -- parked remove ${seq}`
  );
}

/** Returns the consumer in a subject `parked.<stream>.<consumer>`. */
function consumerIn(subject: string): string {
  return subject.split('.').slice(2).join('.');
}

/**
 * Removes a parked message from the list, without sending it again.
 * @throws Error if there is no such message
 */
export async function removeParked(bus: Bus, seq: number): Promise<{ seq: number; removed: true }> {
  await parkedMessage(bus, seq);
  await bus.jsm.streams.deleteMessage('PARKED', seq);
  return { seq, removed: true };
}

/** @throws Error if there is no such message; the error of NATS if NATS cannot be reached */
async function parkedMessage(bus: Bus, seq: number): Promise<StoredMsg> {
  const message = Number.isInteger(seq) ? await getMessage(bus, 'PARKED', { seq }) : null;
  if (!message)
    throw new Error(`There is no parked message ${seq}; npm run -s cli -- parked list shows them.`);
  return message;
}
