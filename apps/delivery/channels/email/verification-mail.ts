import type { RenderedMail } from './render.js';
import { renderMail } from './render.js';

/**
 * Returns the mail that asks the owner of an address for consent. The mail contains no text of the account that wants
 * to use the address. So nobody can use this mail to send their own text to strangers.
 */
export function verificationMail(verifyUrl: string, publicUrl: string): RenderedMail {
  const host = new URL(publicUrl).host;
  const message = {
    title: 'Confirm your address for Earshot',
    sections: [
      {
        heading: '',
        lines: [
          `Somebody wants to send you reports of the brand monitoring at ${host}.`,
          'If you want them, open the link and confirm. If not, ignore this mail: you will get no reports.',
          'The link is valid for 7 days.',
        ],
        entries: [],
      },
    ],
    more: 0,
    link: { label: 'Confirm this address', url: verifyUrl },
    footer: `Earshot · ${host}`,
  };
  return renderMail(message, []);
}
