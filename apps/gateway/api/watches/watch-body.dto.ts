import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsInt,
  IsObject,
  IsPositive,
  IsString,
  Max,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { Check, httpUrlFault, Nullable, Optional } from '../../http/validators.js';
import { AgentStepDto } from '../keywords/agent-step.dto.js';
import { CriteriaDto, LONGEST_INTERVAL_SECONDS } from '../keywords/criteria.dto.js';

/** The body of a watch's creation. */
export class WatchBodyDto {
  @Optional() @IsString() @MinLength(1) market?: string;
  @IsObject() @ValidateNested() @Type(() => CriteriaDto) criteria!: CriteriaDto;
  @IsInt() @IsPositive() @Max(LONGEST_INTERVAL_SECONDS) refreshIntervalSeconds!: number;
  @Nullable() @Check((value) => (value === '' ? undefined : httpUrlFault(value))) webhookUrl?: string | null;
  @Nullable() @IsObject() @ValidateNested() @Type(() => AgentStepDto) ai?: AgentStepDto | null;
  @Optional() @IsBoolean() analysis?: boolean;
  @Optional() @IsBoolean() backfill?: boolean;
}

/** What can be changed of a watch. */
export class WatchChangeDto {
  @Optional() @IsInt() @IsPositive() @Max(LONGEST_INTERVAL_SECONDS) refreshIntervalSeconds?: number;
  @Nullable() @Check((value) => (value === '' ? undefined : httpUrlFault(value))) webhookUrl?: string | null;
  @Optional() @IsBoolean() isActive?: boolean;
}
