import { toOutboundError } from './outbound-error.js';

/** The outcome of one mail that was accepted or has failed. */
export interface MailOutcome {
  accepted: boolean;
  /** The code of the server's reply; 0 if there was no reply. */
  statusCode: number;
  /** True if the server has refused the recipient permanently (5xx), for a reason that is about the recipient. */
  isRecipientRefused: boolean;
  /** A text for people; empty if the mail was accepted. It contains no text of the server, only its codes. */
  message: string;
}

/** The outcome of a mail that was accepted. */
export const ACCEPTED: MailOutcome = {
  accepted: true,
  statusCode: 250,
  isRecipientRefused: false,
  message: '',
};

/** An error of nodemailer. */
export interface SmtpError extends Error {
  code?: string;
  /** The code of Node's error, if there is one. `code` is a code of nodemailer. */
  originalCode?: string;
  command?: string;
  responseCode?: number;
  response?: string;
}

/** An envelope, to which nodemailer adds the refusals of the sender and of recipients. */
export interface RefusedEnvelope {
  mailError?: SmtpError;
  rejectedErrors?: SmtpError[];
}

/**
 * Returns the refusal of the mail's only recipient or of its sender. nodemailer does not report this refusal if the server
 * closes the connection after it: it waits for the reply to `DATA`, which it has sent already (RFC 2920).
 */
export function refusalIn({ mailError, rejectedErrors = [] }: RefusedEnvelope = {}): SmtpError | undefined {
  return mailError ?? rejectedErrors[0];
}

/** Returns the outcome of a mail that the server did not take in time. */
export function timedOut(deadlineMs: number): MailOutcome {
  const message = `the mail server did not take the mail within ${deadlineMs / 1000} s`;
  return { accepted: false, statusCode: 0, isRecipientRefused: false, message };
}

/**
 * The codes of a refusal that is not about the recipient. Without an enhanced code (RFC 3463): the protocol (50x), a
 * missing sign-in (53x). Enhanced codes: the sender's address (1.7, 1.8), a limit of the sender (4.5, Gmail), the server
 * (3), the protocol (5), its policy (7). Servers often check the sender and the client only when they get the recipient,
 * and then refuse every recipient.
 */
const NOT_ABOUT_RECIPIENT = /^5[03]\d $| 5\.(1\.[78]$|4\.5$|[357]\.)/;
/** Enhanced codes that name no reason. Then, and without an enhanced code, the words of the reply name the reason. */
const NO_REASON = new Set(['', '5.0.0', '5.1.0']);
/**
 * Words of a refusal that is about this server or the mail: relaying, sign-in, policy, block lists, the sender, spam,
 * limits. Two products look for these words: Sisimai (its classes NoRelaying, AuthFailure, PolicyViolation, Blocked,
 * Rejected, SpamDetected and RateLimited in https://github.com/sisimai/rb-sisimai, lib/sisimai/reason), and ZoneMTA (its rules in
 * https://github.com/zone-eu/zone-mta, config/bounces.txt). Other words are assumed to be about the recipient.
 */
const WORDS_ABOUT_US =
  /relay|rcpthosts|authenti|authori[sz]|polic(y|ies)|prohibit|denied|block|black ?list|dnsbl|\brbl\b|banned|reputation|client|\bhelo\b|sender|\bspf\b|\bptr\b|reverse dns|spam|junk|unsolicited|is listed|\bip\b|too many|too fast|\brate\b|limit|exceeded|later/i;

/** Addresses in a reply: their words are not words of the server. */
const ADDRESSES = /\S+@\S+/g;

/** Returns the outcome of a mail that has failed. */
export function outcomeOf({
  code = '',
  originalCode = '',
  command = '',
  responseCode: statusCode = 0,
  response = '',
}: SmtpError): MailOutcome {
  // The enhanced code names the reason; qmail writes it at the end. The text beside the code is not shown, because the
  // server chooses that text.
  const enhanced = /(?:^\d{3}[ -]|\(#)([45]\.\d{1,3}\.\d{1,3})\b(?!\.)/.exec(response)?.[1] ?? '';
  const isRecipientRefused =
    command.startsWith('RCPT') &&
    statusCode >= 500 &&
    !NOT_ABOUT_RECIPIENT.test(`${statusCode} ${enhanced}`) &&
    !(NO_REASON.has(enhanced) && WORDS_ABOUT_US.test(response.replace(ADDRESSES, '')));
  const failed = { accepted: false, statusCode, isRecipientRefused };
  if (statusCode === 0) {
    const { message } = toOutboundError(
      Object.assign(new Error(), { code: originalCode }),
      'the mail server',
    );
    return { ...failed, message: REASONS[code] ?? message };
  }
  const reason = isRecipientRefused ? 'it does not accept the address' : EXPLAINED[code];
  const answer = ['the mail server answered', statusCode, enhanced].filter(Boolean).join(' ');
  return { ...failed, message: reason ? `${answer}: ${reason}` : answer };
}

/** The texts for errors that the code of the server's reply does not explain, by nodemailer's code. */
const EXPLAINED: Readonly<Record<string, string>> = {
  ETLS: 'TLS with the mail server could not be started',
  EAUTH: 'the sign-in with the user and the password of SMTP_URL failed',
};
/** The texts for errors without a reply of the server, by nodemailer's code. */
const REASONS: Readonly<Record<string, string>> = {
  ...EXPLAINED,
  EENVELOPE: 'the address of the sender or the recipient is not valid',
  EMESSAGE: 'the mail is empty, or larger than the mail server accepts',
  ETIMEDOUT: 'the mail server did not answer in time',
  ECONNECTION: 'the mail server closed the connection',
};
