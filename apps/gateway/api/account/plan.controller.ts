import { create } from '@bufbuild/protobuf';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ChangePlanSchema, GrantCreditsSchema } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { SIGN_UP, type SignUpRules } from '../../config.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { PackBodyDto, PlanBodyDto } from './plan-body.dto.js';

/** Changes the plan and adds packs of credits, if the installation allows owners to do so. */
@Controller('v1')
export class PlanController {
  constructor(
    private readonly commands: CommandClient,
    @Inject(SIGN_UP) private readonly rules: SignUpRules,
  ) {}

  @Post('account/plan')
  @HttpCode(200)
  async changePlan(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    this.requirePlanChangesByOwners();
    const { plan } = readBody(PlanBodyDto, raw, 'snake');
    await this.commands.request(
      COMMANDS.changePlan,
      create(ChangePlanSchema, { commandId, accountId, plan }),
    );
    return { plan };
  }

  @Post('credits/packs')
  @HttpCode(201)
  async addPack(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    this.requirePlanChangesByOwners();
    const { credits, note = '' } = readBody(PackBodyDto, raw, 'snake');
    const command = create(GrantCreditsSchema, { commandId, accountId, amount: credits, note });
    const { packId, creditsRemaining } = await this.commands.request(COMMANDS.grantCredits, command);
    return { id: packId, granted: credits, creditsRemaining };
  }

  /** @throws Refusal `forbidden` */
  private requirePlanChangesByOwners(): void {
    if (!this.rules.canOwnersChangePlan)
      throw new Refusal(
        'forbidden',
        'FORBIDDEN',
        'only the operator of this installation can change plans and add credits (PLAN_CHANGES is cli); ask the operator',
      );
  }
}
