import { create } from '@bufbuild/protobuf';
import { Body, Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ResetPasswordSchema } from '#contracts';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import { AuditLog } from '../auth/audit-log.js';
import { AttemptLimits } from '../auth/attempt-limits.js';
import { Passwords } from '../auth/passwords.js';
import { HAS_MAIL } from '../config.js';
import { readBody } from '../http/body.js';
import { CommandId } from '../http/command-id.js';
import { AccountMails } from './account-mails.js';
import { PasswordResetConfirmDto, PasswordResetDto } from './auth-body.dto.js';

/** The command that the operator runs on the machine of Earshot, if the installation has no mail server. */
const RESET_COMMAND = 'npm run -s cli -- members reset-password --email you@example.org';

/** The routes for a forgotten password. A reset ends all sessions of the member. */
@Controller('v1/auth/password/reset')
export class PasswordResetController {
  constructor(
    private readonly attempts: AttemptLimits,
    private readonly passwords: Passwords,
    private readonly mails: AccountMails,
    private readonly commands: CommandClient,
    private readonly audit: AuditLog,
    @Inject(HAS_MAIL) private readonly hasMail: boolean,
  ) {}

  /**
   * Requests a mail with a link. The response does not show whether the address belongs to a member: Earshot looks up
   * the address later, when it sends the mail.
   */
  @Post()
  @HttpCode(202)
  async ask(
    @Body() raw: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { email } = readBody(PasswordResetDto, raw, 'snake');
    await this.attempts.begin('mail', email, request, reply);
    if (!this.hasMail)
      return {
        message:
          'This installation has no mail server. Its operator can get a link by running this command with your address.',
        command: RESET_COMMAND,
      };
    await this.mails.ask('reset', email);
    return {
      message: 'If the address belongs to a member, a mail with a link is on its way.',
      command: null,
    };
  }

  @Post('confirm')
  @HttpCode(204)
  async confirm(
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { token, newPassword } = readBody(PasswordResetConfirmDto, raw, 'snake');
    const attempt = await this.attempts.begin('reset', token, request, reply);
    const passwordHash = await this.passwords.hash(newPassword);
    const command = create(ResetPasswordSchema, { commandId, token, passwordHash });
    const { accountId, memberId } = await this.commands.request(COMMANDS.resetPassword, command);
    await attempt.succeeded();
    const author = { accountId, by: { kind: 'member', id: memberId } } as const;
    await this.audit.record(author, request, reply, reply.statusCode);
  }
}
