import type { Command } from 'commander';
import { STREAMS, type Bus } from '#messaging';
import { print } from './arguments.js';
import { withBus } from './connection.js';

/** The number, size and sequences of the messages in a stream, and the positions of its consumers. */
export interface StreamInfo {
  stream: string;
  messages: number;
  bytes: number;
  firstSequence: number;
  lastSequence: number;
  /** ISO 8601; null if the stream is empty. */
  firstAt: string | null;
  lastAt: string | null;
  consumers: { name: string; acknowledgedUpTo: number; pending: number; underWay: number }[];
}

/** Adds the command `streams info`. */
export function addStreamCommands(program: Command): void {
  program
    .command('streams')
    .description('show the streams in NATS')
    .command('info')
    .description('print one line of JSON for each stream, with its consumers')
    .action(async () => {
      for (const info of await withBus(process.env, streamInfos)) print(info);
    });
}

/** Returns the state of every stream. */
export async function streamInfos(bus: Bus): Promise<StreamInfo[]> {
  const found: StreamInfo[] = [];
  for (const stream of Object.keys(STREAMS)) {
    const { state } = await bus.jsm.streams.info(stream);
    const consumers: StreamInfo['consumers'] = [];
    for await (const { name, ack_floor, num_pending, num_ack_pending } of bus.jsm.consumers.list(stream))
      consumers.push({
        name,
        acknowledgedUpTo: ack_floor.stream_seq,
        pending: num_pending,
        underWay: num_ack_pending,
      });
    const isEmpty = state.messages === 0;
    found.push({
      stream,
      messages: state.messages,
      bytes: state.bytes,
      firstSequence: state.first_seq,
      lastSequence: state.last_seq,
      firstAt: isEmpty ? null : new Date(state.first_ts).toISOString(),
      lastAt: isEmpty ? null : new Date(state.last_ts).toISOString(),
      consumers,
    });
  }
  return found;
}
