import { createAddressPolicy, literalAddressFault, type AddressPolicy } from '#http-out';
import type { Fault } from '#kernel';

/**
 * Tells webhooks that could never be reached, before anything is promised: literal addresses that delivery would refuse.
 * What a name leads to is looked at when it is connected to.
 */
export class WebhookAddresses {
  private readonly permits: AddressPolicy;

  /** @param allow `EGRESS_ALLOW` as CIDRs */
  constructor(allow: readonly string[]) {
    this.permits = createAddressPolicy(allow);
  }

  /** The fault of a body's address, if there is one. @param path its key */
  faults(url: string | null | undefined, path = 'webhookUrl'): Fault[] {
    const message = this.fault(url);
    return message === undefined ? [] : [{ path, message }];
  }

  /** What is wrong with the address, if anything; one that is no URL is somebody else's to tell. */
  fault(url: string | null | undefined): string | undefined {
    return url ? literalAddressFault(url, this.permits) : undefined;
  }
}
