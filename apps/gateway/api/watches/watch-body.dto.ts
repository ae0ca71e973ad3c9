import { IsBoolean, IsInt, IsPositive, IsString, Max, MinLength } from 'class-validator';
import { Described, HttpUrlOrEmpty, Nested, Nullable, Optional } from '../../http/validators.js';
import { AgentStepDto } from '../keywords/agent-step.dto.js';
import { CriteriaDto, MAX_INTERVAL_SECONDS } from '../keywords/criteria.dto.js';

/** The body of a request that creates a watch. */
@Described(
  '`WatchBodyInSnakeCase` is the same body in snake_case. A body can mix both spellings, but must not contain the same key in both.',
)
export class WatchBodyDto {
  @Optional()
  @IsString()
  @MinLength(1)
  @Described('Can be here or in `criteria`. Default: `global`')
  market?: string;
  @Nested(() => CriteriaDto) criteria!: CriteriaDto;
  @IsInt() @IsPositive() @Max(MAX_INTERVAL_SECONDS) refreshIntervalSeconds!: number;
  @Nullable()
  @HttpUrlOrEmpty()
  @Described('Address that receives the events; empty or null for none')
  webhookUrl?: string | null;
  @Nullable() @Nested(() => AgentStepDto) ai?: AgentStepDto | null;
  @Optional()
  @IsBoolean()
  @Described('Read sentiment and intent, and charge for them. Default: false')
  analysis?: boolean;
  @Optional()
  @IsBoolean()
  @Described(
    'Keep the items of the first check as mentions. On `x`, this check then costs one credit for each returned post, instead of the price of a check. Readings of the items cost extra. Default: false',
  )
  backfill?: boolean;
}

/** The keys of a watch that a user can change. */
export class WatchChangeDto {
  @Optional() @IsInt() @IsPositive() @Max(MAX_INTERVAL_SECONDS) refreshIntervalSeconds?: number;
  @Nullable()
  @HttpUrlOrEmpty()
  @Described('Address that receives the events; empty or null for none')
  webhookUrl?: string | null;
  @Optional() @IsBoolean() isActive?: boolean;
}
