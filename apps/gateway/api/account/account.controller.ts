import { create } from '@bufbuild/protobuf';
import { Body, Controller, Get, Inject, Patch } from '@nestjs/common';
import { ChangeAccountSchema } from '#contracts';
import { isoOf, newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { AccountChangeDto } from './account-change.dto.js';

/** The account and its settings. */
@Controller('v1/account')
export class AccountController {
  constructor(
    private readonly commands: CommandClient,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @Get()
  read(@From() { accountId }: Caller) {
    return this.view(accountId);
  }

  @Patch()
  async change(@From() { accountId }: Caller, @Body() raw: unknown) {
    const { name, timezone, signatureVersion } = readBody(AccountChangeDto, raw, 'snake');
    const settings = { name: name === null ? '' : name, timezone, signatureVersion };
    const command = create(ChangeAccountSchema, { commandId: newId(), accountId, ...settings });
    await this.commands.request(COMMANDS.changeAccount, command);
    return this.view(accountId);
  }

  private async view(accountId: string) {
    // This is plain SQL, because the query builder would use a tenth of the gateway's processor time for this read.
    const [account] = await this.database.query<(Record<string, string | null> & { createdAt: Date })[]>(
      `SELECT account_id AS id, email, plan, NULLIF(name, '') AS name, timezone,
         signature_version AS "signatureVersion", created_at AS "createdAt"
       FROM accounts WHERE account_id = $1`,
      [accountId],
    );
    if (!account) throw Refusal.notFound('account');
    return { ...account, createdAt: isoOf(account.createdAt) };
  }
}
