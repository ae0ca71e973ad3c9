import { Body, Controller, Get, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import { AttemptLimits } from '../auth/attempt-limits.js';
import { PASSWORD_LENGTH } from '../auth/password-rules.js';
import { Passwords } from '../auth/passwords.js';
import { HAS_MAIL, SIGN_UP, type SignUpRules } from '../config.js';
import { readBody } from '../http/body.js';
import { CommandId } from '../http/command-id.js';
import { AccountMails } from './account-mails.js';
import { SignUpDto } from './auth-body.dto.js';
import { MemberReads } from './members.js';
import { BrowserSessions } from './browser-sessions.js';
import { SignUps } from './sign-ups.js';

/** The data that the sign-in page needs before a member has signed in. */
@Controller('v1/auth/options')
export class SignUpOptionsController {
  constructor(
    @Inject(SIGN_UP) private readonly rules: SignUpRules,
    @Inject(HAS_MAIL) private readonly hasMail: boolean,
    private readonly members: MemberReads,
  ) {}

  @Get()
  async read() {
    return {
      signUp: this.rules.mode,
      isFirst: !(await this.members.hasAccounts()),
      hasMail: this.hasMail,
      passwordLength: PASSWORD_LENGTH,
      planChanges: this.rules.canOwnersChangePlan ? 'owner' : 'cli',
    };
  }
}

/** Signs people up. A request with a code signs a person up. A request without a code asks for a mail with a link. */
@Controller('v1/auth/sign-up')
export class SignUpController {
  constructor(
    private readonly attempts: AttemptLimits,
    private readonly passwords: Passwords,
    private readonly signUps: SignUps,
    private readonly mails: AccountMails,
    private readonly browserSessions: BrowserSessions,
  ) {}

  @Post()
  async signUp(
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.signUps.requireOn();
    const { email, password, name = '', code } = readBody(SignUpDto, raw, 'snake');
    if (code === undefined) {
      await this.signUps.requireOpen();
      await this.attempts.begin('mail', email, request, reply);
      await this.mails.ask('sign-up', email);
      void reply.status(202);
      return { message: 'If this address can sign up, a mail with a link is on its way.' };
    }
    if (password === undefined) throw Refusal.validation([{ path: 'password', message: 'is required' }]);
    const attempt = await this.attempts.begin('sign-up', email, request, reply);
    const passwordHash = await this.passwords.hash(password);
    const memberId = await this.signUps.join({ email, passwordHash, name, code }, commandId);
    await attempt.succeeded();
    void reply.status(201);
    return this.browserSessions.begin({ memberId, passwordVersion: 1 }, request, reply);
  }
}
