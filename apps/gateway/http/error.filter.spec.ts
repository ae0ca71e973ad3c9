import { BadRequestException, NotFoundException, type ArgumentsHost } from '@nestjs/common';
import { Outage, Refusal } from '#kernel';
import { createLogger } from '#telemetry';
import { ErrorFilter } from './error.filter.js';

/** Returns the response to a caller whose route throws this error. */
function answerTo(error: unknown): { status: number; body: unknown } {
  const answer = { status: 0, body: undefined as unknown };
  const reply = {
    status(code: number) {
      answer.status = code;
      return reply;
    },
    send(body: unknown) {
      answer.body = body;
    },
  };
  const request = { method: 'GET', url: '/x' };
  const http = { getResponse: () => reply, getRequest: () => request };
  const host = { switchToHttp: () => http } as unknown as ArgumentsHost;
  new ErrorFilter(createLogger('spec', 'silent')).catch(error, host);
  return answer;
}

describe('the error filter', () => {
  it('returns a refusal unchanged, with its details [errors.envelope]', () => {
    const refusal = Refusal.validation([
      { path: 'a', message: 'x' },
      { path: 'b', message: 'y' },
    ]);
    expect(answerTo(refusal)).toEqual({
      status: 400,
      body: {
        error: 'a: x (1 of 2 faults; details has them all)',
        code: 'VALIDATION',
        details: refusal.details,
      },
    });
  });

  it('omits details when there are none', () => {
    expect(answerTo(Refusal.notFound('keyword'))).toEqual({
      status: 404,
      body: { error: 'keyword not found', code: 'NOT_FOUND' },
    });
  });

  it.each([
    [
      Object.assign(new Error('big'), { statusCode: 413 }),
      413,
      'PAYLOAD_TOO_LARGE',
      'the body is larger than 1 MiB (a form: 4 KiB)',
    ],
    [
      Object.assign(new Error('type'), { statusCode: 415 }),
      415,
      'VALIDATION',
      'the body must be JSON (content-type: application/json)',
    ],
    [new NotFoundException('Cannot GET /x'), 404, 'NOT_FOUND', 'no such endpoint'],
    [new BadRequestException('bad'), 400, 'VALIDATION', 'bad'],
  ])('returns a code for a fault of the HTTP layer (%s)', (error, status, code, message) => {
    const details = code === 'VALIDATION' ? { details: [{ path: '', message }] } : {};
    expect(answerTo(error)).toEqual({ status, body: { error: message, code, ...details } });
  });

  it.each([
    new Error('column "secret" does not exist'),
    Object.assign(new Error('bad gateway of ours'), { statusCode: 502 }),
    'a thrown string',
    undefined,
    null,
  ])('reveals nothing about a defect (%s) [errors.internal, requests.nothing-leaks]', (error) => {
    expect(answerTo(error)).toEqual({ status: 500, body: { error: 'internal error', code: 'INTERNAL' } });
  });

  it('returns 503 for an outage, without the address of the store [requests.nothing-leaks]', () => {
    expect(answerTo(new Outage('Postgres', new Error('connect ECONNREFUSED 10.0.0.1:5432')))).toEqual({
      status: 503,
      body: { error: 'a store that this request needs cannot answer now; try again', code: 'UNAVAILABLE' },
    });
  });
});
