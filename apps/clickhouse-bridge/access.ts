import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Credentials } from '#embedded';
import { ClickhouseException } from './clickhouse-exception.js';

const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

/**
 * Admits requests with the correct user and password (HTTP Basic, or X-ClickHouse-User and X-ClickHouse-Key, as
 * ClickHouse's clients send them). Refuses requests of pages in a browser of this machine, which have an Origin or
 * another host name.
 *
 * @throws ClickhouseException 516 without the correct credentials, 497 for a foreign Host or any Origin
 */
export function checkAccess(request: IncomingMessage, expected: Credentials): void {
  const { host, origin } = request.headers;
  if (!OWN_HOST.test(host ?? '') || origin !== undefined)
    throw new ClickhouseException(
      497,
      'ACCESS_DENIED',
      'Only programs of this machine are allowed to connect',
    );
  const given = credentialsOf(request);
  // Both values are always compared, so that the duration does not show which value is wrong.
  const [user, password] = [areEqual(given.user, expected.user), areEqual(given.password, expected.password)];
  if (!user || !password)
    throw new ClickhouseException(
      516,
      'AUTHENTICATION_FAILED',
      'The user or the password is wrong or missing',
    );
}

function credentialsOf({ headers }: IncomingMessage): Credentials {
  const basic = /^basic ([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    return { user: text.slice(0, Math.max(0, colon)), password: text.slice(colon + 1) };
  }
  const [user, password] = [headers['x-clickhouse-user'], headers['x-clickhouse-key']];
  return { user: String(user ?? ''), password: String(password ?? '') };
}

function areEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
