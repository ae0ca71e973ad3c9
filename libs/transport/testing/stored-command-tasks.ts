import { toBinary } from '@bufbuild/protobuf';
import { RetireKeywordSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, type Bus } from '#messaging';
import { CommandClient } from '../command-client.js';
import { command, done, retiring } from './retiring.js';
import { startReplica } from './strategy-under-test.js';

const { retireKeyword } = COMMANDS;

/** Tests of stored messages: a service that can write to a stream must not make JetStream send commands in its place. */
export function storedCommandTasks(bus: () => Bus): void {
  describe('a message of a stream', () => {
    it.each<[string, (forged: string) => Promise<unknown> | void]>([
      [
        'a consumer of a stream',
        (forged) =>
          bus().nc.request(
            `$JS.API.CONSUMER.CREATE.${forged}.push`,
            JSON.stringify({
              stream_name: forged,
              config: {
                name: 'push',
                deliver_subject: retireKeyword.subject,
                deliver_group: retireKeyword.subject,
                deliver_policy: 'all',
                ack_policy: 'none',
              },
            }),
          ),
      ],
      [
        'a request for a stored message',
        (forged) =>
          bus().nc.publish(`$JS.API.DIRECT.GET.${forged}`, '{"seq":1}', { reply: retireKeyword.subject }),
      ],
    ])('is not executed as a command if it comes from %s', async (_, send) => {
      const forged = `FORGED-${newId()}`;
      const api = (request: string, body: object) =>
        bus().nc.request(`$JS.API.STREAM.${request}.${forged}`, JSON.stringify(body));
      await api('CREATE', { name: forged, subjects: [forged], storage: 'memory', allow_direct: true });
      await bus().nc.request(forged, toBinary(RetireKeywordSchema, command));
      let calls = 0;
      const controller = retiring(() => {
        calls += 1;
        return Promise.resolve(done);
      });
      const replica = await startReplica(bus(), controller);
      try {
        const arrived = bus().nc.subscribe(retireKeyword.subject, { max: 1 });
        await send(forged);
        for await (const message of arrived)
          expect(message.data).toEqual(toBinary(RetireKeywordSchema, command));
        await new CommandClient(bus()).request(retireKeyword, command);
      } finally {
        await replica.stop();
      }
      expect(calls).toBe(1);
      await api('DELETE', {});
    });
  });
}
