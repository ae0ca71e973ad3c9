import { create } from '@bufbuild/protobuf';
import { Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { RotateSigningSecretSchema } from '#contracts';
import { isoOf, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import { AccountEntity, type Database } from '#postgres';
import { SecretBox } from '#secrets';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { CommandId } from '../../http/command-id.js';

/** Shows owners the secret that signs the account's webhooks, and replaces it. */
@Controller('v1/signing-secret')
export class SigningSecretController {
  constructor(
    private readonly commands: CommandClient,
    private readonly box: SecretBox,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @Get()
  async read(@From() { accountId }: Caller) {
    const account = await this.database.getRepository(AccountEntity).findOneBy({ accountId });
    if (!account) throw Refusal.notFound('account');
    const until = account.previousSigningSecretValidUntil;
    return {
      signingSecret: this.box.open(account.signingSecretEncrypted),
      previousValidUntil: until && until.getTime() > Date.now() ? isoOf(until) : null,
    };
  }

  /**
   * After a rotation, deliveries are signed with both secrets for 24 hours. Exception: with the signature version
   * `legacy`, the new secret alone signs `X-Signature`.
   */
  @Post('rotate')
  @HttpCode(200)
  async rotate(@From() { accountId }: Caller, @CommandId() commandId: string) {
    const { signingSecret, previousValidUntil } = await this.commands.request(
      COMMANDS.rotateSigningSecret,
      create(RotateSigningSecretSchema, { commandId, accountId }),
    );
    return { signingSecret, previousValidUntil };
  }
}
