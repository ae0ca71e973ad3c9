import { createAddressPolicy, literalAddressFault, type AddressPolicy } from '#http-out';
import type { Fault } from '#kernel';

/**
 * Refuses webhook addresses that delivery would also refuse, before a request is accepted. Only literal IP addresses
 * and `localhost` can be checked here. Other host names are checked when delivery connects.
 */
export class WebhookAddresses {
  private readonly permits: AddressPolicy;

  /** @param allow `EGRESS_ALLOW` as CIDRs */
  constructor(allow: readonly string[]) {
    this.permits = createAddressPolicy(allow);
  }

  /** Returns the fault of an address in a body, or an empty list. @param path key of the address */
  faults(url: string | null | undefined, path = 'webhookUrl'): Fault[] {
    const message = this.fault(url);
    return message === undefined ? [] : [{ path, message }];
  }

  /** Returns the fault of the address, or undefined. Another rule reports an address that is not a URL. */
  fault(url: string | null | undefined): string | undefined {
    return url ? literalAddressFault(url, this.permits) : undefined;
  }
}
