import type { BucketPreset, Sentiment } from '#contracts';
import { SENTIMENTS } from '#contracts';
import type { LlmReading } from '../reading.js';
import type { ReadSubject } from './analysis.js';
import { checkedBySchema } from './checked-by-schema.js';

/** The presets for which a language model chooses the bucket. For the other presets, rules find the bucket. */
export type LlmBucketPreset = Extract<BucketPreset, 'product-model' | 'theme-sentiment' | 'custom'>;

/** The bucket of an item: the label that people see, or null for no bucket. */
export interface BucketAnswer {
  label: string | null;
  /** Only for `theme-sentiment`: the item's stance toward the theme. */
  sentiment?: Sentiment;
}

const LABEL = { type: ['string', 'null'], maxLength: 60 };
const OF_LABEL = schemaOf({ label: LABEL });
const OF_THEME = schemaOf({ label: LABEL, sentiment: { type: 'string', enum: [...SENTIMENTS] } });
const byLabel = checkedBySchema<BucketAnswer>(OF_LABEL);
const byTheme = checkedBySchema<BucketAnswer>(OF_THEME);

const TASKS: Readonly<Record<Exclude<LlmBucketPreset, 'custom'>, string>> = {
  'product-model':
    'label: the product or model of the subject that the item is about, as its maker writes it, without the words around it ("iPhone 15 Pro", not "my new iphone 15 pro"). null if the item names none.',
  'theme-sentiment':
    'label: the aspect of the subject that the item is about, in one to three English words in singular ("battery", "customer support", "price"). Use the same words for the same aspect. null if it is about none.\nsentiment: what the author thinks of that aspect.',
};

/** Returns the question to a language model about the bucket of each item. */
export function bucketReading(
  preset: LlmBucketPreset,
  { names, about }: ReadSubject,
): LlmReading<BucketAnswer> {
  const isTheme = preset === 'theme-sentiment';
  const check = isTheme ? byTheme : byLabel;
  const task =
    preset === 'custom'
      ? `label: the bucket of the item, by this rule of the user: ${JSON.stringify(about)}. Use the names of the rule, exactly as they are written there, if it has names. null if no bucket fits.`
      : TASKS[preset];
  return {
    prompt: { name: `bucket-${preset}`, version: '1' },
    instructions: `You sort posts about ${names.map((name) => JSON.stringify(name)).join(', ')} into buckets, for a monitoring service.\n${task}`,
    schema: isTheme ? OF_THEME : OF_LABEL,
    check(answer) {
      const checked = check(answer);
      if ('fault' in checked || checked.value.label === null) return checked;
      return checked.value.label.trim() === '' ? { fault: '"label" is empty: null means none' } : checked;
    },
  };
}

function schemaOf(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
