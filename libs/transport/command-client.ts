import { toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { headers as natsHeaders, RequestError, TimeoutError, type MsgHdrs } from '@nats-io/nats-core';
import { ClientProxy, type ReadPacket, type WritePacket } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { Refusal, refuseOversize } from '#kernel';
import type { Bus, CommandType } from '#messaging';
import { currentTrace, currentTraceparent, inSpan, SpanKind } from '#telemetry';
import { decodeReply } from './reply.js';

const DEFAULT_TIMEOUT_MS = 10_000;

/** The data that `ClientProxy` passes from `request` to `publish`. */
interface Command {
  input: MessageShape<DescMessage>;
  timeoutMs: number;
}

/** Sends commands to services, which answer them with `NatsStrategy`. */
export class CommandClient extends ClientProxy {
  constructor(private readonly bus: Bus) {
    super();
  }

  /**
   * Sends a command and waits for its reply.
   * @param timeoutMs how long to wait, in ms; default 10 s
   * @throws Refusal from the service; `too-large` for a command that is larger than a message can be; `internal` if the
   *   handler failed with another error; `unavailable` if the service is not running, does not answer in time or sends
   *   an empty reply, if a store of the service cannot be reached, or if the connection to NATS fails. Its `cause` is the
   *   error of NATS
   */
  request<I extends DescMessage, O extends DescMessage>(
    type: CommandType<I, O>,
    input: MessageShape<I>,
    timeoutMs = DEFAULT_TIMEOUT_MS,
  ): Promise<MessageShape<O>> {
    return firstValueFrom(this.send<MessageShape<O>, Command>(type, { input, timeoutMs }));
  }

  /** Does nothing: the owner of the connection opens and closes it. */
  async connect(): Promise<void> {}

  close(): void {}

  /** Returns the connection to NATS. */
  unwrap<T>(): T {
    return this.bus.nc as T;
  }

  protected publish({ pattern, data }: ReadPacket<Command>, callback: (packet: WritePacket) => void) {
    const type = pattern as CommandType;
    const attributes = { 'rpc.system.name': 'nats', 'rpc.method': type.subject };
    inSpan(type.subject, SpanKind.CLIENT, attributes, () => this.exchange(type, data)).then(
      (response) => callback({ response, isDisposed: true }),
      (err: unknown) => callback({ err }),
    );
    return () => undefined;
  }

  /** Sends nothing. @throws Error always: `EventStore` appends facts, with their message ids */
  protected dispatchEvent(): never {
    throw new Error('EventStore appends facts; this client sends commands, which get a reply');
  }

  private async exchange(type: CommandType, { input, timeoutMs }: Command): Promise<unknown> {
    const data = toBinary(type.input, input);
    refuseOversize('the request', data.length);
    const message = await this.bus.nc
      .request(type.subject, data, { timeout: timeoutMs, headers: traceHeaders() })
      .catch((error: unknown) => {
        const refusal = Refusal.unavailable(failureText(error, type.subject.split('.')[1] ?? type.subject));
        // Shows whether the service can still execute the command.
        refusal.cause = error;
        throw refusal;
      });
    return decodeReply(type, message.data);
  }
}

function failureText(error: unknown, service: string): string {
  if (error instanceof RequestError && error.isNoResponders()) return `the ${service} service is not running`;
  if (error instanceof TimeoutError) return `the ${service} service did not answer in time`;
  return `the request to the ${service} service failed: ${error instanceof Error ? error.message : String(error)}`;
}

function traceHeaders(): MsgHdrs {
  const headers = natsHeaders();
  const traceparent = currentTraceparent();
  const requestId = currentTrace()?.requestId;
  if (traceparent) headers.set('traceparent', traceparent);
  if (requestId) headers.set('x-request-id', requestId);
  return headers;
}
