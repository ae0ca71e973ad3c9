import { ArrayMaxSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import { INTENTS, SENTIMENTS } from '#contracts';
import { Described, Nullable } from '../../http/validators.js';
import { LABELS } from '../../reads/mention-filter.js';

/** The labels and corrections that a person can set on a mention. */
@Described('A key that is absent in the body does not change. Null removes the labels or the correction.')
export class MentionChangeDto {
  @Nullable() @IsArray() @ArrayMaxSize(LABELS.length) @IsIn(LABELS, { each: true }) labels?: string[] | null;
  @Nullable() @IsIn(SENTIMENTS) sentiment?: string | null;
  @Nullable() @IsIn(INTENTS) intent?: string | null;
  @Nullable() @IsInt() @Min(0) @Max(100) relevance?: number | null;
}
