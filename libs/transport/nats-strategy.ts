import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import {
  runDurable,
  type Bus,
  type CommandType,
  type ConsumerOptions,
  type Durable,
  type Outcome,
} from '#messaging';
import type { Logger } from '#telemetry';
import { CommandSubscription, type CommandHandler } from './command-subscription.js';
import type { PatternExtras } from './patterns.js';
import { stopWithin, type Stoppable } from './stop-within.js';

/** How long `close` waits if `stop` was not called before. */
const CLOSING_MS = 5000;

/**
 * Nest's transport over NATS. Commands of controllers use request/reply with protobuf bodies and typed refusals; their
 * consumers read JetStream in batches. Starts and stops both.
 */
export class NatsStrategy extends Server implements CustomTransportStrategy {
  /** True, because the runner of a consumer reports errors of the handler. */
  override readonly propagatesEventHandlerErrors = true;
  private readonly commands = new Set<Pick<Stoppable, 'stop'>>();
  private readonly running: Stoppable[] = [];
  private stopped?: Promise<string[]>;

  constructor(
    private readonly bus: Bus,
    private readonly log: Logger,
  ) {
    super();
  }

  /** The consumers that the service's controllers declare. */
  get consumers(): readonly ConsumerOptions[] {
    return [...this.messageHandlers.values()].flatMap((handler) => extrasOf(handler).consumer ?? []);
  }

  /**
   * Adds a handler.
   * @throws Error if the command or consumer already has a handler, because Nest would call one or both of them
   */
  override addHandler(
    pattern: string,
    callback: MessageHandler,
    isEventHandler?: boolean,
    extras?: Record<string, unknown>,
  ): void {
    if (this.messageHandlers.has(pattern)) throw new Error(`${pattern} has two handlers`);
    super.addHandler(pattern, callback, isEventHandler, extras);
  }

  /** Starts the consumers, after rebuilding their tables if necessary, and then answers commands. */
  listen(callback: (error?: unknown) => void): void {
    this.start().then(() => callback(), callback);
  }

  /**
   * Answers one more type of command until the returned object is stopped. This is for commands that a replica answers
   * only at times, for example lookups while it holds a lane. `stop` waits for accepted commands.
   */
  serve<I extends DescMessage, O extends DescMessage>(
    type: CommandType<I, O>,
    handle: CommandHandler<I, O>,
  ): Pick<Stoppable, 'stop'> {
    const subscription = new CommandSubscription(this.bus, type, handle, this.log);
    const served = {
      stop: async () => {
        await subscription.stop();
        this.commands.delete(served);
      },
    };
    this.commands.add(served);
    return served;
  }

  /**
   * Accepts no more commands and pulls no more messages; finishes running work.
   * @param graceMs how long that can take; unfinished messages are delivered again
   * @returns the names of work that did not end in time or could not be stopped; a second call returns the same promise
   */
  stop(graceMs: number): Promise<string[]> {
    const commands = { name: 'commands', stop: () => this.stopCommands() };
    this.stopped ??= stopWithin(graceMs, [commands, ...this.running], this.log);
    return this.stopped;
  }

  async close(): Promise<void> {
    await this.stop(CLOSING_MS);
  }

  on(): never {
    throw new Error('not supported: the connection only logs its events');
  }

  /** Returns the connection to NATS. */
  unwrap<T>(): T {
    return this.bus.nc as T;
  }

  private async start(): Promise<void> {
    const handlers = [...this.messageHandlers.values()];
    await Promise.all(
      handlers.map(async (handler) => {
        const { consumer } = extrasOf(handler);
        if (!consumer) return;
        const running = await runDurable(this.bus, this.durableOf(consumer, handler), this.log);
        this.running.push({ name: consumer.name, stop: () => running.stop() });
      }),
    );
    for (const handler of handlers) {
      const { command } = extrasOf(handler);
      if (command) this.serve(command, (input) => resultOf<MessageShape<DescMessage>>(handler, input));
    }
  }

  private durableOf(consumer: ConsumerOptions, handler: MessageHandler): Durable {
    const position = [...this.messageHandlers.values()].find(
      (one) => extrasOf(one).appliedUpTo === consumer.name,
    );
    return {
      ...consumer,
      handle: (batch) => resultOf<Outcome[]>(handler, batch),
      ...(position && { appliedUpTo: () => resultOf<number>(position, undefined) }),
    };
  }

  private async stopCommands(): Promise<void> {
    await Promise.all([...this.commands].map((command) => command.stop()));
  }
}

function extrasOf(handler: MessageHandler): PatternExtras {
  return handler.extras ?? {};
}

/** Returns the result of a handler. Nest's interceptors convert the result to a stream with one value. */
async function resultOf<T>(handler: MessageHandler<unknown, unknown, T>, input: unknown): Promise<T> {
  const result = await handler(input);
  return isObservable(result) ? lastValueFrom(result) : (result as T);
}
