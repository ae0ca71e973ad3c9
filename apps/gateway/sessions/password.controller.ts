import { create } from '@bufbuild/protobuf';
import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangePasswordSchema } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../auth/api-keys.js';
import { AttemptLimits } from '../auth/attempt-limits.js';
import { From } from '../auth/caller.js';
import { newPasswordFault } from '../auth/password-rules.js';
import { Passwords } from '../auth/passwords.js';
import { inSpellingOf, readBody } from '../http/body.js';
import { CommandId } from '../http/command-id.js';
import { PasswordChangeDto } from './auth-body.dto.js';
import { MemberReads } from './members.js';
import { Sessions } from './sessions.js';

/** The password of the member who has signed in. A change ends all other sessions. */
@Controller('v1/auth/password')
export class PasswordController {
  constructor(
    private readonly attempts: AttemptLimits,
    private readonly passwords: Passwords,
    private readonly members: MemberReads,
    private readonly sessions: Sessions,
    private readonly commands: CommandClient,
  ) {}

  @Post()
  @HttpCode(204)
  async change(
    @From() { accountId, by }: Caller,
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { currentPassword, newPassword } = readBody(PasswordChangeDto, raw, 'snake');
    const member = await this.members.profile(by.id);
    if (!member || by.kind !== 'member') throw Refusal.notFound('member');
    await inSpellingOf(raw, async () => {
      const fault = newPasswordFault(newPassword, member.email);
      if (fault) throw Refusal.validation([{ path: 'new_password', message: fault }]);
      // The limit of sign-ins also applies here: a person who finds an open browser must not be able to guess the
      // password.
      const attempt = await this.attempts.begin('sign-in', member.email, request, reply);
      if (!(await this.passwords.isRight(currentPassword, member.password_hash)))
        throw Refusal.validation([{ path: 'current_password', message: 'is wrong' }]);
      await attempt.succeeded();
    });
    const passwordHash = await this.passwords.hash(newPassword);
    const { passwordVersion } = await this.commands.request(
      COMMANDS.changePassword,
      create(ChangePasswordSchema, {
        commandId,
        accountId,
        memberId: by.id,
        passwordHash,
        previousHash: member.password_hash,
      }),
    );
    await this.sessions.keep(by.sessionId, passwordVersion);
  }
}
