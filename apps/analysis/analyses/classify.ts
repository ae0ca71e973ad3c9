import { cosine, type MentionWithVector } from './group.js';

/** The class of a mention. */
export interface ClassifiedMention {
  mentionId: string;
  class: string;
  /**
   * 0 to 1. From a language model: how sure the model is. From the local model: the share of this class among all
   * classes (softmax of the cosines), rounded to three decimals.
   */
  confidence: number;
}

/** How strongly cosines change the confidence: a class whose cosine is 0.1 higher is about three times as probable. */
const SHARPNESS = 12;

/**
 * Gives each mention the class whose name is nearest in meaning to the mention.
 * @param classes the names of the classes
 * @param vectors the vectors of these names, in the same order; at least one. A class without a vector gets no mention
 */
export function classify(
  mentions: readonly MentionWithVector[],
  classes: readonly string[],
  vectors: readonly (Float32Array | undefined)[],
): ClassifiedMention[] {
  return mentions.map(({ id, vector }) => {
    const weights = vectors.map((one) => (one ? Math.exp(SHARPNESS * cosine(vector, one)) : 0));
    const best = weights.indexOf(Math.max(...weights));
    const share = weights[best]! / weights.reduce((sum, weight) => sum + weight, 0);
    return { mentionId: id, class: classes[best]!, confidence: Number(share.toFixed(3)) };
  });
}
