import { AddressLinks } from './address-links.js';
import { ReportAddresses, reportKeys } from './report-addresses.js';
import { SignedText } from './signed-text.js';

const [first, second, third] = ['a1'.repeat(32), 'b2'.repeat(32), 'c3'.repeat(32)] as const;
const ref = { accountId: 'a', channelId: 'c', address: 'ada@example.org' };
const tokenIn = (url: string) => new URL(url).searchParams.get('token') ?? '';

describe('a signed text', () => {
  it('is valid for its scope and purpose only, and not after a change', () => {
    const signed = new SignedText(first, 'cursor');
    const text = signed.write('scope', { n: 1 });
    expect(signed.read('scope', text)).toEqual({ n: 1 });
    expect(signed.read('other', text)).toBeUndefined();
    expect(new SignedText(first, 'estimate').read('scope', text)).toBeUndefined();
    expect(signed.read('scope', `${text}A`)).toBeUndefined();
    expect(signed.read('scope', '')).toBeUndefined();
  });
});

describe('the address of a report', () => {
  const [reportId, periodTo] = ['0190f3a0-0000-7000-8000-000000000001', Date.parse('2026-03-09T08:00:00Z')];
  const days = (n: number) => periodTo + n * 24 * 3_600_000;
  const addresses = (masterKey: string) =>
    new ReportAddresses(reportKeys(masterKey), 'https://earshot.example/');
  const tokenOf = (masterKey: string) =>
    /^https:\/\/earshot\.example\/reports\/([\w-]+)$/.exec(
      addresses(masterKey).urlOf(reportId, periodTo),
    )?.[1] ?? '';

  it('names its report until 90 days after the end of its period, and is always the same', () => {
    const token = tokenOf(first);
    expect(tokenOf(first)).toBe(token);
    expect(addresses(first).reportIdIn(token, days(90))).toBe(reportId);
    expect(addresses(first).reportIdIn(token, days(90) + 1)).toBeUndefined();
  });

  it('is not valid after any change, nor with another key', () => {
    const token = tokenOf(first);
    for (let at = 0; at < token.length; at += 1) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(addresses(first).reportIdIn(changed, days(1))).toBeUndefined();
    }
    expect(addresses(second).reportIdIn(token, days(1))).toBeUndefined();
    // Addresses are not signed with the master key itself, but with a key that is derived from it.
    expect(new ReportAddresses(first, '').reportIdIn(token, days(1))).toBeUndefined();
  });

  it('stays valid during a rotation of the master key', () => {
    const token = tokenOf(first);
    const rotating = `${second},${first}`;
    expect(addresses(rotating).reportIdIn(token, days(1))).toBe(reportId);
    expect(addresses(second).reportIdIn(tokenOf(rotating), days(1))).toBe(reportId);
  });
});

describe('the link of a mail', () => {
  const url = 'https://earshot.example.org';

  it('unsubscribes during a rotation of the master key, until the old key is removed', () => {
    const old = tokenIn(new AddressLinks(first, url).urlOf('unsubscribe', ref, 0));
    const rotating = new AddressLinks(`${second},${first}`, url);
    expect(rotating.read('unsubscribe', old, Date.now())).toEqual(ref);
    const later = tokenIn(rotating.urlOf('unsubscribe', ref, 0));
    expect(new AddressLinks(second, url).read('unsubscribe', later, Date.now())).toEqual(ref);
    expect(new AddressLinks(second, url).read('unsubscribe', old, Date.now())).toBeUndefined();
    expect(new AddressLinks(`${second},${third}`, url).read('unsubscribe', old, 0)).toBeUndefined();
  });

  it('verifies an address for 7 days, and cannot unsubscribe the address', () => {
    const links = new AddressLinks(first, url);
    const token = tokenIn(links.urlOf('verify', ref, 0));
    const week = 7 * 24 * 3_600_000;
    expect(links.read('verify', token, week)).toEqual(ref);
    expect(links.read('verify', token, week + 1)).toBeUndefined();
    expect(links.read('unsubscribe', token, 0)).toBeUndefined();
  });
});
