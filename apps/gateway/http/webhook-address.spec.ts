import { WebhookAddresses } from './webhook-address.js';

const addresses = new WebhookAddresses(['10.1.0.0/16']);
const isRefused = (url: string | null | undefined) => addresses.fault(url) !== undefined;

it.each([
  'http://169.254.169.254/latest',
  'http://127.0.0.1/x',
  'http://127.1/x',
  'http://2130706433/x',
  'http://10.2.0.1/x',
  'https://localhost:8443/x',
  'http://a.localhost./x',
  'http://[::1]/x',
  'http://[::ffff:7f00:1]/x',
])('the webhook address %s is refused', (url) => {
  expect(isRefused(url)).toBe(true);
});

it.each([
  'https://example.org/x',
  'http://10.1.2.3/x',
  'https://93.184.216.34/x',
  'no url',
  '',
  null,
  undefined,
])('the webhook address %s is not refused', (url) => {
  expect(isRefused(url)).toBe(false);
});

it('the fault of a private address names the address and the setting that would allow it', () => {
  expect(addresses.fault('http://localhost/x')).toBe(
    'localhost is a private or reserved address, which is reached only if EGRESS_ALLOW contains it',
  );
});

it.each([
  ['127.0.0.1/32', 'http://127.0.0.1/x', 'http://[::1]/x'],
  ['::1/128', 'http://[::1]/x', 'http://127.0.0.1/x'],
])(
  'localhost is accepted if EGRESS_ALLOW contains only %s of its two addresses',
  (allow, allowed, refused) => {
    const one = new WebhookAddresses([allow]);
    const faults = [allowed, 'http://localhost/x', 'https://a.LOCALHOST./x'].map((url) => one.fault(url));
    expect(faults).toEqual([undefined, undefined, undefined]);
    expect(one.fault(refused)).toBeDefined();
  },
);
