import { toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { refuseOversize } from '#kernel';
import { sendCommand, type Bus, type CommandType } from '#messaging';

/**
 * Sends a command that a request asks for.
 * @throws Refusal as the service answered; 413 when the request is more than NATS carries
 */
export async function send<I extends DescMessage, O extends DescMessage>(
  bus: Bus,
  type: CommandType<I, O>,
  input: MessageShape<I>,
  patienceMs?: number,
): Promise<MessageShape<O>> {
  // A body of 1 MiB can be several times as large on the wire: each number of a filter is eleven bytes there.
  refuseOversize('the request', toBinary(type.input, input).length);
  return sendCommand(bus, type, input, patienceMs);
}
