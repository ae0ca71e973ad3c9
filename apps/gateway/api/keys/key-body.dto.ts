import { IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { DateTime, Described, NotBlank, Nullable, Optional } from '../../http/validators.js';

const MAX_NAME_LENGTH = 80;
const MAX_DAILY_CREDITS = 1_000_000_000;
const LIMIT =
  'Maximum number of credits that the key can spend through MCP in a UTC day. Null means the setting `MCP_DAILY_CREDITS`';

/** `POST /v1/keys` */
export class KeyBodyDto {
  @IsString() @Length(1, MAX_NAME_LENGTH) @NotBlank() name!: string;
  @Optional()
  @IsIn(['read', 'write'])
  @Described('Default: `write`. A key never has more rights than the member who created it')
  scope?: string;
  @Nullable() @DateTime() @Described('Default: never') expiresAt?: string | null;
  @Nullable() @IsInt() @Min(0) @Max(MAX_DAILY_CREDITS) @Described(LIMIT) mcpDailyCredits?: number | null;
}

/** `PATCH /v1/keys/{id}` */
export class KeyChangeDto {
  @Optional() @IsString() @Length(1, MAX_NAME_LENGTH) @NotBlank() name?: string;
  @Nullable() @IsInt() @Min(0) @Max(MAX_DAILY_CREDITS) @Described(LIMIT) mcpDailyCredits?: number | null;
}
