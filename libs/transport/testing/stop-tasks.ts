import { COMMANDS, type Bus } from '#messaging';
import { CommandClient } from '../command-client.js';
import { command, done, gatedHandler, retiring } from './retiring.js';
import { startReplica } from './strategy-under-test.js';

/** Defines tests of the commands of a service that stops. */
export function stopTasks(bus: () => Bus): void {
  const ask = () => new CommandClient(bus()).request(COMMANDS.retireKeyword, command);

  describe('a stop', () => {
    it('first answers the command that is running', async () => {
      const { begun, release, controller } = gatedHandler();
      const replica = await startReplica(bus(), controller);
      const asked = ask();
      await begun;
      let stopped = false;
      const stop = replica.stop().then(() => (stopped = true));
      // Without a running command, the stop would have ended after these two round trips to the server.
      await bus().nc.flush();
      await bus().nc.flush();
      expect(stopped).toBe(false);
      release();
      expect(await asked).toEqual(done);
      await stop;
    });

    it('answers every command that the server has delivered, and leaves other commands to another replica', async () => {
      const controller = retiring(async () => done);
      const [leaving, staying] = [
        await startReplica(bus(), controller),
        await startReplica(bus(), controller),
      ];
      const asked = Array.from({ length: 200 }, ask);
      await leaving.stop();
      expect(await Promise.all(asked)).toEqual(asked.map(() => done));
      await staying.stop();
    });

    it('does not wait for a hanging command longer than the time limit of the stop', async () => {
      const { begun, release, controller } = gatedHandler();
      const { strategy, stop } = await startReplica(bus(), controller);
      const asked = ask();
      await begun;
      expect(await strategy.stop(20)).toEqual(['commands']);
      release();
      await asked;
      await stop();
    });
  });
}
