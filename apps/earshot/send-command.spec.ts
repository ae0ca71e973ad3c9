import { create, toBinary } from '@bufbuild/protobuf';
import { NoRespondersError, RequestError, TimeoutError } from '@nats-io/nats-core';
import { GrantCreditsSchema, GrantedSchema, ReplySchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, type Bus } from '#messaging';
import { refusalFor } from '#outages';
import { sendCommand } from './send-command.js';

/** A connection on which each request gets the next answer: the bytes of a reply, or an error. */
function answering(...answers: (Uint8Array | Error)[]) {
  const requests: Uint8Array[] = [];
  const nc = {
    async request(_: string, data: Uint8Array) {
      const answer = answers[requests.push(data) - 1];
      if (answer instanceof Uint8Array) return { data: answer };
      throw answer ?? new Error('more requests than answers');
    },
  };
  return { bus: { nc } as unknown as Bus, requests };
}

const refusal = (status: number, message: string) =>
  toBinary(
    ReplySchema,
    create(ReplySchema, { outcome: { case: 'refusal', value: { status, code: 'X', message } } }),
  );
const noAnswer = new TimeoutError();
const notRunning = new RequestError('no responders', { cause: new NoRespondersError('commands.billing') });
/** The answer of a service that lost its store. */
const outage = refusal(503, refusalFor(noAnswer).message);
const granted = toBinary(
  ReplySchema,
  create(ReplySchema, {
    outcome: {
      case: 'ok',
      value: toBinary(GrantedSchema, create(GrantedSchema, { packId: 'p', creditsRemaining: 1 })),
    },
  }),
);

const grant = create(GrantCreditsSchema, { commandId: newId(), accountId: newId(), amount: 1 });

it.each([
  ['is not answered', noAnswer],
  ['is answered with an outage, possibly after its decision was stored', outage],
  ['gets an empty answer', new Uint8Array()],
  ['fails with the connection to NATS', new RequestError('disconnected')],
])('a command that %s is sent once more with its id', async (_, first) => {
  const { bus, requests } = answering(first, granted);
  expect(await sendCommand(bus, COMMANDS.grantCredits, grant)).toMatchObject({ packId: 'p' });
  expect(requests).toHaveLength(2);
  expect(requests[1]).toEqual(requests[0]);
});

it.each([
  ['gets no answer', noAnswer, 'the billing service did not answer in time'],
  ['is answered with an outage', outage, 'a store that this request needs cannot answer now'],
  ['fails with an internal error', refusal(500, 'internal error'), 'internal error'],
  ['finds no running service', notRunning, 'the billing service is not running'],
])(
  'the error says that the command can still take effect if the repetition %s',
  async (_, second, reason) => {
    const { bus, requests } = answering(outage, second);
    await expect(sendCommand(bus, COMMANDS.grantCredits, grant)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `${reason}; the command can still take effect, so look for its effect before you repeat it`,
    });
    expect(requests).toHaveLength(2);
  },
);

it.each([
  ['finds no running service', notRunning, 'the billing service is not running'],
  ['is refused', refusal(404, 'account not found'), 'account not found'],
])(
  'a command that %s is not repeated, and the error has the message of the answer',
  async (_, answer, message) => {
    const { bus, requests } = answering(answer);
    await expect(sendCommand(bus, COMMANDS.grantCredits, grant)).rejects.toMatchObject({ message });
    expect(requests).toHaveLength(1);
  },
);

it('a refusal of the repetition is thrown unchanged, because it is the final result of the command', async () => {
  const { bus } = answering(outage, refusal(409, 'this key was created by an earlier attempt'));
  await expect(sendCommand(bus, COMMANDS.grantCredits, grant)).rejects.toMatchObject({
    kind: 'conflict',
    message: 'this key was created by an earlier attempt',
  });
});
