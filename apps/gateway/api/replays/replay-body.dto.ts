import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import { EVENT_TYPES } from '#contracts';
import { Check, dateTimeFault, httpUrlFault, Id, Optional } from '../../http/validators.js';

/** Events a second of a replay, at the most, and where none is given. */
export const FASTEST_REPLAY = 1000;
export const USUAL_REPLAY = 100;

/** The body of a replay's creation. */
export class ReplayBodyDto {
  @Check(dateTimeFault) since!: string;
  @Optional() @Check(dateTimeFault) until?: string;
  @Optional() @Id() keywordId?: string;
  @Optional() @Id() watchId?: string;
  @Optional() @Check(httpUrlFault) url?: string;
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(EVENT_TYPES.length)
  @IsIn(EVENT_TYPES, { each: true, message: 'each value must be a type of event' })
  types?: string[];
  @Optional() @IsInt() @Min(1) @Max(FASTEST_REPLAY) ratePerSecond?: number;
}
