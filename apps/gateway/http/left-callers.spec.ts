import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { selectRows, type ClickHouseClient } from '#clickhouse';
import { endQueriesOfLeftCallers } from './left-callers.js';

describe('a query of a request', () => {
  it('ends when the caller has closed the connection, and no further query begins', async () => {
    const begun: AbortSignal[] = [];
    let begin = () => {};
    const first = new Promise<void>((resolve) => (begin = resolve));
    const clickhouse = {
      query: ({ abort_signal }: { abort_signal: AbortSignal }) => {
        begun.push(abort_signal);
        begin();
        return once(abort_signal, 'abort').then(() => Promise.reject(new Error('aborted')));
      },
    } as unknown as ClickHouseClient;
    const fastify = Fastify();
    endQueriesOfLeftCallers(fastify);
    let end = (_: unknown[]) => {};
    const errors = new Promise<unknown[]>((resolve) => (end = resolve));
    fastify.get('/', async () => {
      const failed = () => selectRows(clickhouse, 'SELECT 1').catch((error: unknown) => error);
      end([await failed(), await failed()]);
    });
    await fastify.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((fastify.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await first;
    socket.destroy();
    expect(await errors).toMatchObject([{ kind: 'unavailable' }, { kind: 'unavailable' }]);
    expect(begun).toHaveLength(1);
    await fastify.close();
  });

  it('does not begin if the caller has closed the connection before', async () => {
    const query = jest.fn();
    const clickhouse = { query } as unknown as ClickHouseClient;
    const fastify = Fastify();
    fastify.addHook('onRequest', async (_, reply) => {
      socket.destroy();
      await once(reply.raw, 'close');
    });
    endQueriesOfLeftCallers(fastify);
    const error = new Promise<unknown>((resolve) =>
      fastify.get('/', () => selectRows(clickhouse, 'SELECT 1').catch(resolve)),
    );
    await fastify.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((fastify.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await error).toMatchObject({ kind: 'unavailable' });
    expect(query).not.toHaveBeenCalled();
    await fastify.close();
  });
});
