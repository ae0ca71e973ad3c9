import type { DescMessage } from '@bufbuild/protobuf';
import { applyDecorators, Catch, UseFilters, type ExceptionFilter } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import type { BatchHandler, CommandType, ConsumerOptions } from '#messaging';
import type { CommandHandler } from './command-subscription.js';

// Decorators with which a controller declares its commands and consumers. The types of pattern and method must match.

/** The metadata of a handler for `NatsStrategy`. Exactly one field is set. */
export interface PatternExtras {
  command?: CommandType;
  consumer?: ConsumerOptions;
  /** The name of a consumer. The method returns the position of the tables that this consumer fills. */
  appliedUpTo?: string;
}

/** Nest's own filter converts every error to "Internal server error"; the strategy needs the error itself. */
@Catch()
class RethrowErrors implements ExceptionFilter {
  catch(error: unknown): never {
    throw error;
  }
}

type HandlerOf<F> = <T extends F>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

/**
 * `@MessagePattern` for a command: the method gets the input message and returns the output message. A `Refusal` that
 * it throws reaches the caller unchanged. An outage reaches the caller as a 503, and any other error as a 500, both
 * without the text of the error.
 */
export function CommandPattern<I extends DescMessage, O extends DescMessage>(
  command: CommandType<I, O>,
): HandlerOf<CommandHandler<I, O>> {
  return pattern(MessagePattern(command.subject, { command } satisfies PatternExtras));
}

/**
 * `@EventPattern` for a durable consumer: the method gets a batch of messages and returns an outcome for each. If it
 * throws, each message is tried by itself. A message that fails alone is retried. At its eighth delivery or later, a
 * message that fails is parked. But it is retried again if the failure is an outage, the consumer is `inOrder`, or the
 * stream contains decisions.
 */
export function ConsumerPattern(consumer: ConsumerOptions): HandlerOf<BatchHandler> {
  // Nest's own type for the method allows only handlers of one event.
  return pattern(EventPattern(consumer.name, { consumer } satisfies PatternExtras) as MethodDecorator);
}

/**
 * Marks the method that returns the position of the tables of `consumer`: the sequence of the last message that they
 * contain, 0 for none. Tables that lack acknowledged messages are rebuilt at the start, before the consumer works.
 */
export function AppliedUpTo(consumer: ConsumerOptions): HandlerOf<() => Promise<number>> {
  return pattern(
    MessagePattern(`${consumer.name}.applied-up-to`, { appliedUpTo: consumer.name } satisfies PatternExtras),
  );
}

function pattern(decorator: MethodDecorator): MethodDecorator {
  return applyDecorators(decorator, UseFilters(new RethrowErrors()));
}
