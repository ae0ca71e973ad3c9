import { fromBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import type { Msg, Subscription } from '@nats-io/nats-core';
import { Refusal } from '#kernel';
import type { Bus, CommandType } from '#messaging';
import { arriveWith, SpanKind, type Logger } from '#telemetry';
import { encodeError, encodeOutput } from './reply.js';

/** Executes one command. */
export type CommandHandler<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> = (
  input: MessageShape<I>,
) => Promise<MessageShape<O>>;

/**
 * Returns whether JetStream has sent the message from a stream. Commands are never stored in a stream, so such a
 * message is not a valid command. A service without the right to send the command can make JetStream send one of the
 * service's messages here, with a consumer or with a request for a stored message.
 */
function isStored(message: Msg, subject: string): boolean {
  return message.subject !== subject || message.headers?.has('Nats-Stream') === true;
}

/** Answers the commands on one subject. Replicas share the commands through a queue group. */
export class CommandSubscription<I extends DescMessage, O extends DescMessage> {
  private readonly underWay = new Set<Promise<void>>();
  private readonly subscription: Subscription;

  constructor(
    bus: Bus,
    private readonly type: CommandType<I, O>,
    private readonly handle: CommandHandler<I, O>,
    private readonly log: Logger,
  ) {
    this.subscription = bus.nc.subscribe(type.subject, {
      queue: type.subject,
      callback: (error, message) => {
        if (error) return log.error({ err: error }, 'command subscription failed');
        if (isStored(message, type.subject))
          return log.error({ command: type.subject }, 'a stored message came as a command and was ignored');
        const answered = this.answer(message).finally(() => this.underWay.delete(answered));
        this.underWay.add(answered);
      },
    });
  }

  /** Accepts no more commands, and waits for accepted commands. */
  async stop(): Promise<void> {
    if (!this.subscription.isClosed()) await this.subscription.drain();
    await Promise.allSettled(this.underWay);
  }

  private async answer(message: Msg): Promise<void> {
    const arrival = {
      traceparent: message.headers?.get('traceparent') || undefined,
      requestId: message.headers?.get('x-request-id') || undefined,
      attributes: { 'rpc.system.name': 'nats', 'rpc.method': this.type.subject },
    };
    try {
      const reply = () => this.replyTo(message.data);
      message.respond(await arriveWith(this.type.subject, SpanKind.SERVER, arrival, reply));
    } catch (error) {
      // The caller gets no reply, so its request fails when the time of the request is over.
      this.log.error({ err: error, command: this.type.subject }, 'a command could not be answered');
    }
  }

  private async replyTo(data: Uint8Array): Promise<Uint8Array> {
    try {
      return encodeOutput(this.type, await this.handle(fromBinary(this.type.input, data)));
    } catch (error) {
      if (!(error instanceof Refusal))
        this.log.error({ err: error, command: this.type.subject }, 'command failed');
      return encodeError(error);
    }
  }
}
