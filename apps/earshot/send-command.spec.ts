import { create } from '@bufbuild/protobuf';
import { RequestError, TimeoutError } from '@nats-io/nats-core';
import { GrantCreditsSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, type Bus } from '#messaging';
import { sendCommand } from './send-command.js';

/** A connection on which every request fails with this error. */
function failing(error: Error) {
  const requests: Uint8Array[] = [];
  const nc = {
    request(_: string, data: Uint8Array) {
      requests.push(data);
      return Promise.reject(error);
    },
  };
  return { bus: { nc } as unknown as Bus, requests };
}

const grant = create(GrantCreditsSchema, { commandId: newId(), accountId: newId(), amount: 1 });

it('a command without an answer is sent once more with its id, and the message says that it can still take effect', async () => {
  const { bus, requests } = failing(new TimeoutError());
  await expect(sendCommand(bus, COMMANDS.grantCredits, grant)).rejects.toThrow(
    'the billing service did not answer in time; the command can still take effect',
  );
  expect(requests).toHaveLength(2);
  expect(requests[1]).toEqual(requests[0]);
});

it('a command that fails for another reason is not repeated', async () => {
  const { bus, requests } = failing(new RequestError('no responders'));
  await expect(sendCommand(bus, COMMANDS.grantCredits, grant)).rejects.not.toThrow('can still take effect');
  expect(requests).toHaveLength(1);
});
