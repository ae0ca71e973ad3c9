import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { ensureStreams, STREAMS } from './streams.js';

const overlap = () =>
  new JetStreamApiError({
    code: 400,
    err_code: 10_065,
    description: 'subjects overlap with an existing stream',
  });

/** A server without streams, which answers so when one is made. */
function serverThat(add: (name: string) => Promise<void>): JetStreamManager {
  return {
    streams: { list: () => [], add: ({ name }: { name: string }) => add(name) },
  } as unknown as JetStreamManager;
}

it('a stream that another service is creating at the same moment is no error', async () => {
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

it('a foreign stream with our subjects is an error', async () => {
  await expect(ensureStreams(serverThat(() => Promise.reject(overlap())))).rejects.toThrow(
    'subjects overlap',
  );
});
