import { create, type JsonObject } from '@bufbuild/protobuf';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { RunAnalysisSchema } from '#contracts';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { HAS_MODEL } from '../../config.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { LONG_ANSWER_MS, LongAnswer } from '../../http/long-answer.js';
import { AnalysisBodyDto, analysisFaults } from './analysis-body.dto.js';

/** Analyses mentions. Costs 1 credit for each mention with a result. */
@Controller()
export class AnalysesController {
  constructor(
    private readonly commands: CommandClient,
    @Inject(HAS_MODEL) private readonly hasModel: boolean,
  ) {}

  @Post('v1/analyses')
  @HttpCode(200)
  @LongAnswer()
  async run(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const body = readBody(AnalysisBodyDto, raw, 'snake', (given) => [
      () => analysisFaults(given, this.hasModel),
    ]);
    const { operation, mentionIds, instruction = '', schema, classes = [] } = body;
    const command = create(RunAnalysisSchema, {
      commandId,
      accountId,
      operation,
      mentionIds: [...new Set(mentionIds.map((id) => id.toLowerCase()))],
      instruction,
      schemaJson: schema ? JSON.stringify(schema) : '',
      classes: classes.map((one) => one.trim()),
    });
    // Longer than the 100 s that the language model may take for one analysis.
    const result = await this.commands.request(COMMANDS.runAnalysis, command, LONG_ANSWER_MS);
    return {
      id: commandId,
      operation,
      meta: { credits_used: result.costCredits },
      ...(JSON.parse(result.bodyJson) as JsonObject),
    };
  }
}
