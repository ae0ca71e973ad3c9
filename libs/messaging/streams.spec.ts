import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { ensureStreams, STREAMS } from './streams.js';

const overlap = () =>
  new JetStreamApiError({
    code: 400,
    err_code: 10_065,
    description: 'subjects overlap with an existing stream',
  });

/** Returns a server without streams. @param add answers a request to create a stream */
function serverThat(add: (name: string) => Promise<void>): JetStreamManager {
  return {
    streams: { list: () => [], add: ({ name }: { name: string }) => add(name) },
  } as unknown as JetStreamManager;
}

it('creating the streams succeeds if another service creates the same stream at the same moment', async () => {
  const made: string[] = [];
  let isBeingMade = true;
  await ensureStreams(
    serverThat((name) => {
      if (name === 'CHECKS' && isBeingMade) {
        isBeingMade = false;
        return Promise.reject(overlap());
      }
      made.push(name);
      return Promise.resolve();
    }),
  );
  expect(made).toEqual(Object.keys(STREAMS));
});

it('creating the streams fails if a foreign stream has our subjects', async () => {
  await expect(ensureStreams(serverThat(() => Promise.reject(overlap())))).rejects.toThrow(
    'subjects overlap',
  );
});
