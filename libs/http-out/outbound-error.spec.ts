import { toOutboundError } from './outbound-error.js';

const messageOf = (code: string) =>
  toOutboundError(Object.assign(new Error(), { code }), 'hook.example.org').message;

it.each([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  // The receiver sends no intermediate certificate.
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])('names the certificate as the reason after %s', (code) => {
  expect(messageOf(code)).toBe(`hook.example.org has a TLS certificate that is not accepted (${code})`);
});

it('names TLS as the reason if the receiver supports only an old version of TLS', () => {
  const code = 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION';
  expect(messageOf(code)).toBe(`hook.example.org does not use TLS as expected (${code})`);
});
