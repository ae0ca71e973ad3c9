import { create } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { creditsPerAnalysedItem, RanAnalysisSchema, type RunAnalysis } from '#contracts';
import { EmbeddingsUnavailable } from '#embeddings';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandPattern } from '#transport';
import { AnalysedMentions } from '../analyses/analysed-mentions.js';
import { AnalysisWork, type AnalysisResult } from '../analyses/analysis-work.js';
import { WorkCharges } from '../search/work-charges.js';

/** The reservation of an analysis lasts this long: longer than an analysis takes. */
const RESERVATION_SECONDS = 300;
/** The gateway waits two seconds longer. Nobody gets a later result, so it is not charged. */
const REPLY_WITHIN_MS = 118_000;
/** Maximum size of the outputs in a reply, which must fit into one message. */
const MAX_REPLY_BYTES = 700_000;

/** Analyses mentions for `POST /v1/analyses`. Each analysed mention is charged, unless the result comes too late. */
@Controller()
export class AnalysesHandler {
  constructor(
    private readonly mentions: AnalysedMentions,
    private readonly work: AnalysisWork,
    private readonly charges: WorkCharges,
  ) {}

  @CommandPattern(COMMANDS.runAnalysis)
  async run(command: RunAnalysis) {
    const { commandId, accountId, mentionIds, operation } = command;
    const begun = performance.now();
    const mentions = await this.mentions.read(accountId, mentionIds);
    const max = creditsPerAnalysedItem() * mentionIds.length;
    const holder = await this.charges.reserve(accountId, commandId, max, RESERVATION_SECONDS);
    const result = await this.work.run(command, mentions).catch(async (error: unknown) => {
      await this.charges.release(commandId, holder);
      if (error instanceof EmbeddingsUnavailable)
        throw Refusal.unavailable(`${error.message}; nothing was charged`);
      throw error;
    });
    if (performance.now() - begun > REPLY_WITHIN_MS) {
      await this.charges.release(commandId, holder);
      throw Refusal.unavailable('the analysis took too long; nothing was charged');
    }
    const fitting = withinReply(result);
    const done = mentionIds.length - fitting.errors.length;
    const costCredits = creditsPerAnalysedItem() * done;
    if (costCredits === 0) await this.charges.release(commandId, holder);
    else
      await this.charges.charge({
        id: commandId,
        accountId,
        operation: `analysis_${operation}`,
        questionJson: JSON.stringify({ operation, mentions: mentionIds.length }),
        found: done,
        costCredits,
      });
    return create(RanAnalysisSchema, { bodyJson: JSON.stringify(fitting), costCredits });
  }
}

/** Replaces outputs that do not fit into the reply by errors, so that these outputs are not charged. */
function withinReply(result: AnalysisResult): AnalysisResult {
  if (!result.outputs) return result;
  let bytes = 0;
  const outputs = result.outputs.filter(
    (one) => (bytes += Buffer.byteLength(JSON.stringify(one))) < MAX_REPLY_BYTES,
  );
  const tooLarge = result.outputs
    .slice(outputs.length)
    .map(({ mentionId }) => ({ mentionId, code: 'TOO_LARGE' }));
  return { ...result, outputs, errors: [...result.errors, ...tooLarge] };
}
