import { create } from '@bufbuild/protobuf';
import { EventSchema, type Analysis, type Bucket, type Event, type ReadingRecord } from '#contracts';
import { envelopeBytes } from './envelope-of.js';
import { chargesOf } from './reading-charges.js';

/**
 * The model's answers for a draft (an event that waits for answers). If a key is absent, the event keeps the draft's
 * value.
 */
export interface Answers {
  analysis?: Analysis;
  /** Null: the item belongs to no bucket, or the model gave no valid answer or refused to answer. */
  bucket?: Bucket | null;
  /** The envelope's `ai`: `{status, output, model, version}`. */
  ai?: {
    status: 'completed' | 'timeout' | 'failed';
    output: object | null;
    model: string | null;
    version: string | null;
  };
  /** How each answer was made. These records replace the draft's records of the same kind. */
  records: readonly ReadingRecord[];
}

/** Returns the draft with the answers, its charges and its bytes. The keyword's rules run on the returned event. */
export function finishedEvent(draft: Event, { analysis, bucket, ai, records }: Answers): Event {
  const kinds = new Set(records.map(({ kind }) => kind));
  const event = create(EventSchema, {
    ...draft,
    ...(analysis && { analysis }),
    ...(bucket !== undefined && { bucket: bucket ?? undefined }),
    ...(ai && { aiJson: JSON.stringify(ai) }),
    readings: [...draft.readings.filter(({ kind }) => !kinds.has(kind)), ...records],
  });
  return { ...event, charges: chargesOf(event), envelope: envelopeBytes(event) };
}
