import { SignedText } from './signed-text.js';

/** An email address of a channel. */
export interface ChannelAddressRef {
  accountId: string;
  channelId: string;
  address: string;
}

/** What the link in a mail is for. */
export type AddressAnswer = 'verify' | 'unsubscribe';

/** A link to verify an address is valid for this time. A link to unsubscribe does not expire. */
const VERIFY_WITHIN_MS = 7 * 24 * 3_600_000;

/**
 * The links of mails: anybody who has the link can answer for its address. A link is signed with a key that is derived
 * from MASTER_KEY. It is valid only while MASTER_KEY contains that key. During a rotation, MASTER_KEY contains both
 * keys.
 */
export class AddressLinks {
  private readonly signed: SignedText;

  /** @param publicUrl `PUBLIC_URL`; if it is empty, a link is only a path */
  constructor(
    masterKey: string,
    private readonly publicUrl: string,
  ) {
    this.signed = new SignedText(masterKey, 'channel-address');
  }

  /** Returns the URL of the page on which the owner of the email address answers. @param nowMs when the link is made */
  urlOf(answer: AddressAnswer, { accountId, channelId, address }: ChannelAddressRef, nowMs: number): string {
    const until = answer === 'verify' ? nowMs + VERIFY_WITHIN_MS : 0;
    const token = this.signed.write(answer, [accountId, channelId, address, until]);
    return `${this.publicUrl.replace(/\/+$/, '')}/channels/${answer}?token=${token}`;
  }

  /** Reads the token of a link. @returns undefined if the link was changed, or is not valid any more */
  read(answer: AddressAnswer, token: string, nowMs: number): ChannelAddressRef | undefined {
    const read = this.signed.read<[string, string, string, number]>(answer, token);
    if (!read) return undefined;
    const [accountId, channelId, address, until] = read;
    return until > 0 && until < nowMs ? undefined : { accountId, channelId, address };
  }
}
