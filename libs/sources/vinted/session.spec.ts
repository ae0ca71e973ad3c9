import { fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { catalogItem, catalogPage, connector, lamps, reading } from './testing/fixtures.js';

describe('a session on Vinted', () => {
  const denied = { status: 401, body: { code: 100, message_code: 'invalid_authentication_token' } };
  const page = { body: catalogPage([catalogItem(1)]) };

  it('begins at the home page of the market, once for all searches, and the searches send its cookies', async () => {
    const session = new Map<string, unknown>();
    const first = reading(lamps, () => page, { session });
    const second = reading(lamps, () => page, { session });
    const other = reading({ ...lamps, market: 'de' }, () => page, { session });
    await Promise.all([first.read, second.read, other.read]);
    expect(first.requests.map(({ url }) => url.split('?')[0])).toEqual([
      'https://www.vinted.fr/',
      'https://www.vinted.fr/api/v2/catalog/items',
    ]);
    expect(first.requests[1]?.headers).toMatchObject({
      cookie: 'access_token_web=token-1; anon_id=a1',
      accept: 'application/json',
    });
    // Earshot does not pretend to be a browser: the HTTP client adds its own User-Agent.
    expect(first.requests[0]?.headers).not.toHaveProperty('user-agent');
    expect(second.requests.map(({ at }) => at.pathname)).toEqual(['/api/v2/catalog/items']);
    expect(other.requests[0]?.url).toBe('https://www.vinted.de/');
  });

  it.each([
    ['401', denied],
    ['200 with the code 100', { body: { code: 100, message: 'Jeton invalide' } }],
  ])('is renewed once if it has ended (%s)', async (_, ended) => {
    let answers = 0;
    const { read, requests } = reading(lamps, () => (++answers === 1 ? ended : page));
    expect((await read).items.length).toBe(1);
    expect(requests.map(({ at }) => at.pathname)).toEqual([
      '/',
      '/api/v2/catalog/items',
      '/',
      '/api/v2/catalog/items',
    ]);
  });

  it('causes a fault if it ends immediately after it was renewed', async () => {
    const { read, requests } = reading(lamps, () => denied);
    await expect(read).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'vinted answered 401: it requires a sign-in, also in a new session; vinted may refuse visitors from this address',
    });
    expect(requests.length).toBe(4);
  });

  it('causes a fault if it has no access cookie, and is not kept', async () => {
    const session = new Map<string, unknown>();
    const upstream = fakeUpstream('vinted', () => ({ body: '<html></html>', setCookies: ['anon_id=a1'] }));
    await expect(connector.search(lamps, fakeContext(upstream.http, { session }))).rejects.toMatchObject({
      kind: 'forbidden',
      message:
        'vinted answered without the cookie access_token_web; it may refuse visitors from this address',
    });
    expect(session.size).toBe(0);
  });

  it.each([
    [21, 'unauthorized'],
    [102, 'forbidden'],
    [104, 'not_found'],
    [106, 'forbidden'],
    [7, 'unexpected_status'],
  ])('can be refused with the status 200 and the code %i, which is the fault `%s`', async (code, kind) => {
    const { read } = reading(lamps, () => ({ body: { code, message: 'Nein' } }));
    await expect(read).rejects.toMatchObject({ kind, statusCode: 200 });
    await expect(read).rejects.toThrow(`vinted answered 200 with the code ${code}: `);
  });

  it('cannot begin in a market that does not exist, and the error names this market', async () => {
    await expect(reading({ market: 'xx', query: 'lamp' }, () => page).read).rejects.toThrow(
      'vinted has no market "xx"',
    );
  });
});
