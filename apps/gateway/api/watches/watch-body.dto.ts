import { IsBoolean, IsInt, IsPositive, IsString, Max, MinLength } from 'class-validator';
import { Described, HttpUrlOrEmpty, Nested, Nullable, Optional } from '../../http/validators.js';
import { AgentStepDto } from '../keywords/agent-step.dto.js';
import { CriteriaDto, LONGEST_INTERVAL_SECONDS } from '../keywords/criteria.dto.js';

/** The body of a watch's creation. */
@Described('In snake_case it is `WatchBodyInSnakeCase`; the two may be mixed, but no key may stand in both.')
export class WatchBodyDto {
  @Optional()
  @IsString()
  @MinLength(1)
  @Described('May stand here, or in `criteria`; `global` unless given')
  market?: string;
  @Nested(() => CriteriaDto) criteria!: CriteriaDto;
  @IsInt() @IsPositive() @Max(LONGEST_INTERVAL_SECONDS) refreshIntervalSeconds!: number;
  @Nullable()
  @HttpUrlOrEmpty()
  @Described('Where its events are pushed to; empty or null: nowhere')
  webhookUrl?: string | null;
  @Nullable() @Nested(() => AgentStepDto) ai?: AgentStepDto | null;
  @Optional() @IsBoolean() analysis?: boolean;
  @Optional() @IsBoolean() backfill?: boolean;
}

/** What can be changed of a watch. */
export class WatchChangeDto {
  @Optional() @IsInt() @IsPositive() @Max(LONGEST_INTERVAL_SECONDS) refreshIntervalSeconds?: number;
  @Nullable()
  @HttpUrlOrEmpty()
  @Described('Where its events are pushed to; empty or null: nowhere')
  webhookUrl?: string | null;
  @Optional() @IsBoolean() isActive?: boolean;
}
