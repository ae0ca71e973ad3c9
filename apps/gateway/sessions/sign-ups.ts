import { create } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AcceptInvitationSchema, OpenAccountSchema } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import { SIGN_UP, type SignUpRules } from '../config.js';
import { MemberReads } from './members.js';
import { SignUpCodes } from './sign-up-codes.js';

/** The plan of the first account, which belongs to the operator. */
const FIRST_PLAN = 'unlimited';
/** The plan of the accounts that everyone can open. */
const OPEN_PLAN = 'free';

/** A person who signs up with a code. */
export interface NewMember {
  email: string;
  passwordHash: string;
  /** Name of a new account; empty if the account gets no name. */
  name: string;
  code: string;
}

/** Decides who can sign up, and opens the account or accepts the invitation. */
@Injectable()
export class SignUps {
  constructor(
    @Inject(SIGN_UP) private readonly rules: SignUpRules,
    private readonly codes: SignUpCodes,
    private readonly members: MemberReads,
    private readonly commands: CommandClient,
  ) {}

  /** @throws Refusal `forbidden` if sign-up is off */
  requireOn(): void {
    if (this.rules.mode === 'off')
      throw new Refusal('forbidden', 'FORBIDDEN', 'nobody can sign up here (SIGN_UP is off)');
  }

  /**
   * Checks that a person without a code can get a code by mail. The first account belongs to the operator, so its
   * sign-up always needs the code that `npm start` printed.
   * @throws Refusal `invalid` that says which code is needed
   */
  async requireOpen(): Promise<void> {
    const isFirst = !(await this.members.hasAccounts());
    if (this.rules.mode === 'open' && !isFirst) return;
    const message = isFirst
      ? 'is required: the sign-up code that npm start printed'
      : 'is required: an owner of an account can invite you';
    throw Refusal.validation([{ path: 'code', message }]);
  }

  /**
   * Opens an account, or accepts the invitation to which the code belongs.
   * @param commandId a repeated call with the same id changes nothing
   * @returns the id of the member
   * @throws Refusal `conflict` for a taken address, `invalid` for a code that is not valid
   */
  async join({ email, passwordHash, name, code }: NewMember, commandId: string): Promise<string> {
    const isFirst = this.codes.isFirst(code) && !(await this.members.hasAccounts());
    const isOpen = this.rules.mode === 'open' && this.codes.isFor(email, code, Date.now());
    if (!isFirst && !isOpen) {
      const command = create(AcceptInvitationSchema, { commandId, code, email, passwordHash });
      return (await this.commands.request(COMMANDS.acceptInvitation, command)).memberId;
    }
    const plan = isFirst ? FIRST_PLAN : OPEN_PLAN;
    const command = create(OpenAccountSchema, {
      commandId,
      email,
      plan,
      name,
      passwordHash,
      mustBeFirst: isFirst,
    });
    return (await this.commands.request(COMMANDS.openAccount, command)).memberId;
  }
}
