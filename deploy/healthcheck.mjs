// Asks the service in this container for its health, for images without curl. The exit code is 0 if the service answers
// 200.
//
//   node healthcheck.mjs [/healthz|/readyz]
//
// It reads HOST, PORT and OPERATIONS_TOKEN from the environment of the service, so that the token is in no manifest.

import { get } from 'node:http';

const path = process.argv[2] ?? '/healthz';
const { HOST, PORT, OPERATIONS_TOKEN } = process.env;
const listensOnAll = ['0.0.0.0', '::'].includes(HOST);

const request = get(
  {
    host: (!listensOnAll && HOST) || '127.0.0.1',
    port: PORT || 8080,
    path,
    headers: OPERATIONS_TOKEN ? { authorization: `Bearer ${OPERATIONS_TOKEN}` } : {},
    // Shorter than the probes' own limit, so that the reason is printed.
    timeout: 4000,
  },
  (answer) => {
    let body = '';
    answer.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    answer.on('end', () => {
      console.log(`${path}: ${answer.statusCode} ${body.slice(0, 1000)}`);
      process.exitCode = answer.statusCode === 200 ? 0 : 1;
    });
  },
);
request.on('timeout', () => request.destroy(new Error('no answer within 4 s')));
request.on('error', (error) => {
  console.error(`${path}: ${error.message}`);
  process.exitCode = 1;
});
