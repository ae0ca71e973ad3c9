import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { headers as natsHeaders, RequestError } from '@nats-io/nats-core';
import { ReplySchema } from '#contracts';
import { Refusal, refuseOversize } from '#kernel';
import { currentTrace, traceFrom, traceparentOf, withTrace, type Logger } from '#telemetry';
import type { Bus } from './bus.js';

/** One command of a service: its subject's last token, what goes in and what comes out. */
export interface CommandType<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> {
  /** `commands.<service>.<name>` */
  subject: string;
  input: I;
  output: O;
}

/** A command and the function that carries it out. */
export interface CommandHandler {
  type: CommandType;
  handle(input: unknown): Promise<unknown>;
}

/** Ties a command to its function, types checked. */
export function commandHandler<I extends DescMessage, O extends DescMessage>(
  type: CommandType<I, O>,
  handle: (input: MessageShape<I>) => Promise<MessageShape<O>>,
): CommandHandler {
  return { type, handle: (input) => handle(input as MessageShape<I>) };
}

/**
 * Answers the commands; replicas share them by a queue group. A `Refusal` goes back to the caller as it is,
 * anything else as 500 without its text. `stop` takes no more of them, and waits for those that it has taken.
 */
export function serveCommands(
  bus: Bus,
  handlers: readonly CommandHandler[],
  log: Logger,
): { stop(): Promise<void> } {
  const underWay = new Set<Promise<void>>();
  const subscriptions = handlers.map(({ type, handle }) =>
    bus.nc.subscribe(type.subject, {
      queue: type.subject,
      callback: (error, message) => {
        if (error) return log.error({ err: error }, 'command subscription failed');
        const trace = traceFrom(
          message.headers?.get('traceparent') || undefined,
          message.headers?.get('x-request-id'),
        );
        const answered = withTrace(trace, async () => {
          const reply = await replyTo(type, handle, message.data, log);
          message.respond(reply);
        })
          // Whoever asked hears nothing, and asks again.
          .catch((error: unknown) =>
            log.error({ err: error, command: type.subject }, 'a command could not be answered'),
          )
          .finally(() => underWay.delete(answered));
        underWay.add(answered);
      },
    }),
  );
  return {
    async stop() {
      const open = subscriptions.filter((subscription) => !subscription.isClosed());
      await Promise.all(open.map((subscription) => subscription.drain()));
      await Promise.allSettled(underWay);
    },
  };
}

async function replyTo(
  type: CommandType,
  handle: CommandHandler['handle'],
  data: Uint8Array,
  log: Logger,
): Promise<Uint8Array> {
  const written = (outcome: MessageInitShape<typeof ReplySchema>['outcome']) =>
    toBinary(ReplySchema, create(ReplySchema, { outcome }));
  try {
    const output = await handle(fromBinary(type.input, data));
    const ok = toBinary(type.output, output as MessageShape<DescMessage>);
    refuseOversize('what is to be answered', ok.length);
    return written({ case: 'ok', value: ok });
  } catch (error) {
    if (!(error instanceof Refusal)) log.error({ err: error, command: type.subject }, 'command failed');
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'INTERNAL', 'internal error');
    const { status, code, message, details } = refusal;
    const value = { status, code, message, details: [...(details ?? [])] };
    return written({ case: 'refusal', value });
  }
}

const PATIENCE_MS = 10_000;

/**
 * Sends a command and waits for its outcome.
 * @throws Refusal as the service answered; 413 for what is too large to be sent; 503 when no service answers within
 * `patienceMs` (default 10 s)
 */
export async function sendCommand<I extends DescMessage, O extends DescMessage>(
  bus: Bus,
  type: CommandType<I, O>,
  input: MessageShape<I>,
  patienceMs = PATIENCE_MS,
): Promise<MessageShape<O>> {
  const headers = natsHeaders();
  const trace = currentTrace();
  if (trace) headers.set('traceparent', traceparentOf(trace));
  if (trace?.requestId) headers.set('x-request-id', trace.requestId);
  const data = toBinary(type.input, input);
  refuseOversize('the request', data.length);
  const message = await bus.nc
    .request(type.subject, data, { timeout: patienceMs, headers })
    .catch((error: unknown) => {
      const service = type.subject.split('.')[1];
      const silent = error instanceof RequestError && error.isNoResponders();
      throw Refusal.unavailable(
        silent ? `the ${service} service is not running` : `the ${service} service did not answer`,
      );
    });
  const reply = fromBinary(ReplySchema, message.data);
  switch (reply.outcome.case) {
    case 'ok':
      return fromBinary(type.output, reply.outcome.value);
    case 'refusal': {
      const { status, code, message: text, details } = reply.outcome.value;
      const faults = details.map((detail) => ({ path: detail.path, message: detail.message }));
      throw new Refusal(status, code, text, faults.length > 0 ? faults : undefined);
    }
    case undefined:
      throw Refusal.unavailable('the answer was empty');
  }
}
