import { addressOf, publicUrlOf, readInstallationSettings } from './installation.js';

describe('the settings of an installation', () => {
  it('are valid if no variable is set', () => {
    expect(readInstallationSettings({}).NATS_URL).toBe('');
  });

  it.each([
    ['LLM_MODEL', { LLM_URL: 'http://127.0.0.1:11434/v1' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'example' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
  ])('are refused with the name of the setting if %s is missing or wrong', (name, env) => {
    expect(() => readInstallationSettings(env)).toThrow(name);
  });
});

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://127.0.0.1:8080'],
  ['192.168.1.5', 'http://192.168.1.5:8080'],
  ['::1', 'http://[::1]:8080'],
  ['earshot.local', 'http://earshot.local:8080'],
])('the address of an installation with HOST=%s is %s', (host, address) => {
  expect(addressOf(host, 8080)).toBe(address);
});

it.each([
  ['http://192.168.1.5:8080', 'http://192.168.1.5:8080'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
  ['http://[fe80::1%eth0]:8080', 'http://127.0.0.1:8080'],
])('the links of an installation at %s without PUBLIC_URL begin with %s', (address, url) => {
  expect(publicUrlOf(address, 8080)).toBe(url);
});
