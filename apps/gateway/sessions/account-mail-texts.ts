import { escapeHtml } from '../http/html-page.js';

/**
 * The content of a mail. Except for the address, the mail contains no text of the person who requested the mail,
 * because that person can be a stranger.
 */
export interface AccountMail {
  subject: string;
  text: string;
  html: string;
}

/** Returns the mail with a link to reset a password. */
export function resetMail(url: string): AccountMail {
  return mailOf(
    'Reset your Earshot password',
    'Somebody asked to reset the password of this address. To choose a new password, open the link. It is valid for one hour.',
    url,
  );
}

/** Returns the mail with a link to sign up. */
export function signUpMail(url: string): AccountMail {
  return mailOf(
    'Finish your sign-up for Earshot',
    'Somebody wants to sign up with this address. To choose a password and begin, open the link. It is valid for one day.',
    url,
  );
}

/** Returns the mail for an address that already belongs to a member. */
export function takenMail(url: string): AccountMail {
  return mailOf(
    'You have an Earshot account',
    'Somebody wants to sign up with this address, which has an account already. You can sign in, or reset the password.',
    url,
  );
}

function mailOf(subject: string, sentence: string, url: string): AccountMail {
  const ignore = 'If it was not you, ignore this mail: nothing has changed.';
  const link = escapeHtml(url);
  return {
    subject,
    text: `${sentence}\n\n${url}\n\n${ignore}\n`,
    html: `<p>${escapeHtml(sentence)}</p><p><a href="${link}">${link}</a></p><p>${ignore}</p>`,
  };
}
