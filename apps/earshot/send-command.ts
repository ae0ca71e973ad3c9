import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { RequestError } from '@nats-io/nats-core';
import { Refusal } from '#kernel';
import type { Bus, CommandType } from '#messaging';
import { ADVICE_TO_REPEAT } from '#outages';
import { CommandClient } from '#transport';

/**
 * Sends a command to a service. If the answer does not tell whether the command took effect, sends the same command
 * once more: a command that is repeated with its id has no second effect.
 * @throws Refusal as `CommandClient.request` does. If the second answer does not tell this either, the message says
 *   that the command can still take effect
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
    if (!isUndecided(error)) throw error;
    // The advice to try again would be wrong: the operator's next command has another id, so it can have a second
    // effect.
    throw Refusal.unavailable(
      `${error.message.replace(ADVICE_TO_REPEAT, '')}; the command can still take effect, so look for its effect before you repeat it`,
    );
  }
}

/**
 * Returns whether the command can have an effect although it failed. A service that cannot reach a store any more has
 * possibly stored its decision before. If the service did not run, nobody received the command.
 */
function mayTakeEffect(error: unknown): boolean {
  if (!(error instanceof Refusal) || error.kind !== 'unavailable') return false;
  return !(error.cause instanceof RequestError && error.cause.isNoResponders());
}

/** Returns whether the effect of the first attempt is still unknown after the answer to the repetition. */
function isUndecided(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.kind === 'unavailable' || error.kind === 'internal');
}
