import { IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { DateTime, Described, NotBlank, Nullable, Optional } from '../../http/validators.js';

const LONGEST_NAME = 80;
const MOST_DAILY_CREDITS = 1_000_000_000;
const LIMIT =
  'Maximum number of credits that the key can spend through MCP in a UTC day. Null means the setting `MCP_DAILY_CREDITS`';

/** `POST /v1/keys` */
export class KeyBodyDto {
  @IsString() @NotBlank() @MaxLength(LONGEST_NAME) name!: string;
  @Optional()
  @IsIn(['read', 'write'])
  @Described('Default: `write`. A key never has more rights than the member who created it')
  scope?: string;
  @Nullable() @DateTime() @Described('Default: never') expiresAt?: string | null;
  @Nullable() @IsInt() @Min(0) @Max(MOST_DAILY_CREDITS) @Described(LIMIT) mcpDailyCredits?: number | null;
}

/** `PATCH /v1/keys/{id}` */
export class KeyChangeDto {
  @Optional() @IsString() @NotBlank() @MaxLength(LONGEST_NAME) name?: string;
  @Nullable() @IsInt() @Min(0) @Max(MOST_DAILY_CREDITS) @Described(LIMIT) mcpDailyCredits?: number | null;
}
