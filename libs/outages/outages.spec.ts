import { ClickHouseError } from '@clickhouse/client';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { ClosedConnectionError, RequestError, TimeoutError } from '@nats-io/nats-core';
import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { Outage } from '#kernel';
import { isOutage } from './index.js';

const fromPostgres = (code: string) =>
  new QueryFailedError(
    'SELECT 1',
    [],
    Object.assign(new pg.DatabaseError('said by the server', 1, 'error'), { code }),
  );
const fromPg = (error: Error) => new QueryFailedError('SELECT 1', [], error);
const fromClickHouse = (code: string) =>
  new ClickHouseError({ message: 'said by the server', code, type: 'T' });
const fromJetStream = (code: number) =>
  new JetStreamApiError({ code, err_code: 10000 + code, description: 'said by the server' });

describe('isOutage', () => {
  it.each([
    ['a store that its library could not reach', new Outage('Postgres', new Error('ECONNREFUSED'))],
    ['Postgres shutting down', fromPostgres('57P01')],
    ['Postgres without disk space', fromPostgres('53100')],
    ['a statement that took too long', fromPostgres('57014')],
    ['a Postgres connection that broke', fromPg(new Error('Connection terminated unexpectedly'))],
    ['ClickHouse out of memory', fromClickHouse('241')],
    ['ClickHouse with too many parts', fromClickHouse('252')],
    ['ClickHouse without disk space', fromClickHouse('243')],
    ['ClickHouse that cannot write to a file', fromClickHouse('75')],
    ['ClickHouse that cannot open a file, because there are too many', fromClickHouse('76')],
    ['ClickHouse whose file system allows no new directory', fromClickHouse('1001')],
    ['ClickHouse that refuses the password after its rotation', fromClickHouse('516')],
    ['ClickHouse with too much load', fromClickHouse('745')],
    ['ClickHouse without a free connection', fromClickHouse('203')],
    ['a closed NATS connection', new ClosedConnectionError()],
    ['a NATS request that was not answered', new RequestError('failed', { cause: new TimeoutError() })],
    ['JetStream without a leader', fromJetStream(503)],
    ['JetStream that is reported as disabled', new Error('not enabled', { cause: fromJetStream(503) })],
    [
      'JetStream whose storage for the account is full',
      new JetStreamApiError({ code: 400, err_code: 10_002, description: 'said by the server' }),
    ],
    ['a pull that JetStream no longer serves', new JetStreamError('heartbeats missed')],
  ])('is true for %s', (_, error) => {
    expect(isOutage(error)).toBe(true);
  });

  it.each([
    ['an error whose text contains "timeout"', new Error('the field timeout must be a number')],
    ['an error that looks like a refused connection', new Error('connect ECONNREFUSED 127.0.0.1:1')],
    ['an upstream error with a code of the network', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['a statement that Postgres refuses', fromPostgres('22P02')],
    ['a parameter that cannot be written', fromPg(new TypeError('cyclic'))],
    ['a row that ClickHouse refuses', fromClickHouse('53')],
    ['an error that ClickHouse cannot name', fromClickHouse('1002')],
    ['a statement for which the user of ClickHouse has no rights', fromClickHouse('497')],
    ['a code of ClickHouse that begins with the code of an outage', fromClickHouse('2410')],
    ['a message that JetStream refuses', fromJetStream(400)],
    ['undefined', undefined],
  ])('is false for %s', (_, error) => {
    expect(isOutage(error)).toBe(false);
  });
});
