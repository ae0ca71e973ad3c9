import type { Json } from '#testing';
import { startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant('pro');
});
afterAll(() => service?.stop());

describe('the account', () => {
  it('returns its settings, and changes only the settings that are sent [account.settings]', async () => {
    const first = await ada.api.get('/v1/account');
    expect(first.body).toMatchObject({
      id: ada.accountId,
      plan: 'pro',
      name: null,
      timezone: 'UTC',
      signatureVersion: 'v1',
    });
    const changed = await ada.api.patch('/v1/account', {
      name: 'Acme',
      timezone: 'Europe/Berlin',
      signature_version: 'legacy',
    });
    const expected = { ...first.body, name: 'Acme', timezone: 'Europe/Berlin', signatureVersion: 'legacy' };
    expect([changed.status, changed.body]).toEqual([200, expected]);
    const cleared = await ada.api.patch('/v1/account', { name: null, signatureVersion: 'v1' });
    expect(cleared.body).toEqual({ ...first.body, timezone: 'Europe/Berlin' });
    expect((await ada.api.patch('/v1/account', {})).body).toEqual(cleared.body);
    const eve = await service.tenant();
    expect((await eve.api.get('/v1/account')).body).toMatchObject({ id: eve.accountId, timezone: 'UTC' });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ timezone: '+02:00' }, 'timezone'],
    [{ timezone: null }, 'timezone'],
    [{ signature_version: 'v2' }, 'signature_version'],
    [{ name: 'x'.repeat(81) }, 'name'],
    [{ plan: 'unlimited' }, 'plan'],
  ])('refuses %j, and names the field', async (body, path) => {
    const { status, body: answer } = await ada.api.patch('/v1/account', body);
    expect([status, answer.details.map((fault: Json) => fault.path)]).toEqual([400, [path]]);
  });
});
