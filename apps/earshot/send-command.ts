import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { TimeoutError } from '@nats-io/nats-core';
import { Refusal } from '#kernel';
import type { Bus, CommandType } from '#messaging';
import { CommandClient } from '#transport';

/**
 * Sends a command to a service. If the service does not answer, sends the same command once more: a command that is
 * repeated with its id has no second effect.
 * @throws Refusal as `CommandClient.request` does. If the service does not answer the second time either, the message
 *   says that the command can still take effect
 */
export async function sendCommand<I extends DescMessage, O extends DescMessage>(
  bus: Bus,
  type: CommandType<I, O>,
  input: MessageShape<I>,
): Promise<MessageShape<O>> {
  const client = new CommandClient(bus);
  try {
    return await client.request(type, input);
  } catch (error) {
    if (!mayTakeEffect(error)) throw error;
  }
  try {
    return await client.request(type, input);
  } catch (error) {
    if (!mayTakeEffect(error)) throw error;
    throw Refusal.unavailable(
      `${error.message}; the command can still take effect, so look for its effect before you repeat it`,
    );
  }
}

function mayTakeEffect(error: unknown): error is Refusal {
  return error instanceof Refusal && error.cause instanceof TimeoutError;
}
