export { OutboundError, type OutboundErrorKind } from './outbound-error.js';
export { createAddressPolicy, parseEgressAllow, type AddressPolicy } from './address-policy.js';
export { literalAddressFault } from './literal-address.js';
export { readRateHeaders, type RateHeaders } from './rate-headers.js';
export { displayUrl, rerouteTo } from './target.js';
export type { MailOutcome } from './mail-outcome.js';
export {
  createOutboundMail,
  type OutboundMail,
  type OutboundMailMessage,
  type OutboundMailOptions,
} from './outbound-mail.js';
export {
  createOutboundHttp,
  type OutboundDispatch,
  type OutboundDispatcher,
  type OutboundHttp,
  type OutboundHttpOptions,
  type OutboundRequest,
  type OutboundResponse,
} from './outbound-http.js';
