import Fastify from 'fastify';
import pg from 'pg';
import { answerQuestions } from '../peer.js';

const ACCOUNT = `SELECT account_id AS id, email, plan, name, timezone, signature_version AS "signatureVersion",
  created_at AS "createdAt" FROM accounts WHERE account_id = $1`;
const [databaseUrl] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 8 });
const server = Fastify({ logger: false });
server.get('/account', async (request) => {
  const { rows } = await pool.query(ACCOUNT, [request.headers['x-account']]);
  return rows[0] as object;
});
server.get('/constant', () => ({
  id: '019a0000-0000-7000-8000-000000000000',
  email: '019a0000-0000-7000-8000-000000000000@example.org',
  plan: 'unlimited',
  name: '',
  timezone: 'UTC',
  signatureVersion: 'v1',
  createdAt: '2026-01-01T00:00:00.000Z',
}));
const url = await server.listen({ host: '127.0.0.1', port: 0 });

answerQuestions({ address: () => ({ url, pid: process.pid }) });
