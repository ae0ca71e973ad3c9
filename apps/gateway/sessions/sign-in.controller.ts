import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import type { Caller } from '../auth/api-keys.js';
import { AttemptLimits } from '../auth/attempt-limits.js';
import { From } from '../auth/caller.js';
import { Passwords } from '../auth/passwords.js';
import { readBody } from '../http/body.js';
import { SignInDto } from './auth-body.dto.js';
import { MemberReads } from './members.js';
import { BrowserSessions } from './browser-sessions.js';

/** Signing in and out. */
@Controller('v1/auth')
export class SignInController {
  constructor(
    private readonly attempts: AttemptLimits,
    private readonly passwords: Passwords,
    private readonly members: MemberReads,
    private readonly browserSessions: BrowserSessions,
  ) {}

  /** Does the same work and returns the same response for an unknown address and for a wrong password. */
  @Post('sign-in')
  @HttpCode(200)
  async signIn(
    @Body() raw: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { email, password } = readBody(SignInDto, raw, 'snake');
    const attempt = await this.attempts.begin('sign-in', email, request, reply);
    const member = await this.members.byEmail(email);
    const isRight = await this.passwords.isRight(password, member?.password_hash);
    if (!member || !isRight)
      throw new Refusal('unauthenticated', 'UNAUTHORIZED', 'the email address or the password is wrong');
    await attempt.succeeded();
    const { member_id: memberId, password_version: passwordVersion } = member;
    return this.browserSessions.begin({ memberId, passwordVersion }, request, reply);
  }

  @Post('sign-out')
  @HttpCode(204)
  signOut(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    return this.browserSessions.end(request, reply);
  }

  @Get('session')
  session(@From() { by }: Caller, @Req() request: FastifyRequest) {
    return this.browserSessions.show(by.id, request);
  }
}
