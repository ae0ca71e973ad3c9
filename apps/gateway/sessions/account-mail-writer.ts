import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { RequestPasswordResetSchema } from '#contracts';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import { AccountLinks } from './account-links.js';
import { resetMail, signUpMail, takenMail, type AccountMail } from './account-mail-texts.js';
import { MemberReads } from './members.js';
import { SignUpCodes } from './sign-up-codes.js';

/** The reason of a request for a mail. */
export type MailKind = 'reset' | 'sign-up';

/** Writes the mails about passwords and sign-ups. */
@Injectable()
export class AccountMailWriter {
  constructor(
    private readonly members: MemberReads,
    private readonly codes: SignUpCodes,
    private readonly links: AccountLinks,
    private readonly commands: CommandClient,
  ) {}

  /** @returns undefined if this address gets no mail */
  async write(kind: MailKind, email: string): Promise<AccountMail | undefined> {
    if (kind === 'sign-up')
      return (await this.members.byEmail(email))
        ? takenMail(this.links.signIn())
        : signUpMail(this.links.signUp(email, this.codes.writeFor(email, Date.now())));
    const command = create(RequestPasswordResetSchema, { email });
    const { token } = await this.commands.request(COMMANDS.requestPasswordReset, command);
    return token === '' ? undefined : resetMail(this.links.reset(token));
  }
}
