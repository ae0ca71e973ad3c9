import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createLogger, loggedError, type Logger } from './index.js';

it('the logger logs an error with its stack, and an expected error with only its type and message', () => {
  const isExpected = (error: unknown) => error instanceof RangeError;
  const expected = new RangeError('too far', { cause: new Error('inner') });
  expect(loggedError(expected, isExpected)).toEqual({ type: 'RangeError', message: 'too far' });
  const unexpected = loggedError(new TypeError('wrong'), isExpected);
  expect(unexpected).toMatchObject({
    type: 'TypeError',
    message: 'wrong',
    stack: expect.stringContaining('logger.spec') as string,
  });
});

/** Returns a logger that expects range errors, and its lines. */
function loggerWithLines(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const isExpected = (error: unknown) => error instanceof RangeError;
  return { log: createLogger('spec', 'info', isExpected, { write: (line) => void lines.push(line) }), lines };
}

it('the logger logs the same expected error once in 30 s, and every other error each time', () => {
  const { log, lines } = loggerWithLines();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
  const messages = () => lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg);
  for (const lane of ['a', 'b', 'a'])
    log.child({ lane }).error({ err: new RangeError('no store') }, 'no claim');
  expect(messages()).toEqual(['no claim']);
  log.error({ err: new RangeError('no store') }, 'no renewal');
  log.error({ err: new RangeError('no room') }, 'no claim');
  expect(messages()).toEqual(['no renewal', 'no claim']);
  for (const _ of [1, 2]) log.error({ err: new TypeError('wrong') }, 'a defect');
  for (const _ of [1, 2]) log.error({ n: 1 }, 'no error');
  for (const _ of [1, 2]) log.info('only text');
  expect(messages()).toEqual(['a defect', 'a defect', 'no error', 'no error', 'only text', 'only text']);
  clock.mockReturnValue(1_029_999);
  log.error({ err: new RangeError('no store') }, 'no claim');
  expect(messages()).toEqual([]);
  clock.mockReturnValue(1_030_000);
  log.error({ err: new RangeError('no store') }, 'no claim');
  expect(messages()).toEqual(['no claim']);
  clock.mockRestore();
});

it('the logger removes secrets from a logged object and from two levels of objects inside it', () => {
  const { log, lines } = loggerWithLines();
  const secrets = {
    apiKey: 'hidden',
    signingSecret: 'hidden',
    password: 'hidden',
    authorization: 'hidden',
    cookie: 'hidden',
    'x-api-key': 'hidden',
  };
  log.info(
    { ...secrets, id: 1, request: { ...secrets, id: 2, headers: { ...secrets, id: 3 } } },
    'a request',
  );
  expect(JSON.parse(lines.join(''))).toMatchObject({ id: 1, request: { id: 2, headers: { id: 3 } } });
  expect(lines.join('')).not.toContain('hidden');
});

it('a process continues and ends normally if its log cannot be written because the disk is full', () => {
  const program = `
    import { createLogger } from ${JSON.stringify(new URL('logger.js', import.meta.url))};
    const log = createLogger('spec', 'info');
    let lines = 0;
    const timer = setInterval(() => {
      log.info('a line');
      if ((lines += 1) === 3) clearInterval(timer);
    }, 1);
    process.on('exit', () => console.log(lines));`;
  const full = openSync('/dev/full', 'w');
  const { status, signal, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
    timeout: 20_000,
  });
  closeSync(full);
  expect({ status, signal, stdout }).toEqual({ status: 0, signal: null, stdout: '3\n' });
});
