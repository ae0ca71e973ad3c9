import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import { EVENT_TYPES } from '#contracts';
import { DateTime, Described, HttpUrl, Id, Optional } from '../../http/validators.js';

/** Maximum rate of a replay, in events per second. */
export const MAX_RATE_PER_SECOND = 1000;
/** Default rate of a replay, in events per second. */
export const DEFAULT_RATE_PER_SECOND = 100;

/** The body of a request that creates a replay. */
@Described('Requires exactly one of `keywordId` and `watchId`.')
export class ReplayBodyDto {
  @DateTime() since!: string;
  @Optional()
  @DateTime()
  @Described('End of the window (exclusive). Default and maximum: now')
  until?: string;
  @Optional() @Id() keywordId?: string;
  @Optional() @Id() watchId?: string;
  @Optional() @HttpUrl() @Described('Receiver. Default: the present webhook URL') url?: string;
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(EVENT_TYPES.length)
  @IsIn(EVENT_TYPES, { each: true, message: 'each value must be a type of event, such as hn_item.created' })
  @Described(
    'Only events of these types are replayed. Default: all types of events about items, and the types of events about the keyword itself that its `webhookEvents` contains',
  )
  types?: string[];
  @Optional()
  @IsInt()
  @Min(1)
  @Max(MAX_RATE_PER_SECOND)
  @Described('Maximum number of events per second', { default: DEFAULT_RATE_PER_SECOND })
  ratePerSecond?: number;
}
