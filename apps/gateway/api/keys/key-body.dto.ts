import { IsIn, IsString, MaxLength } from 'class-validator';
import { DateTime, Described, NotBlank, Nullable, Optional } from '../../http/validators.js';

const LONGEST_NAME = 80;

/** `POST /v1/keys` */
export class KeyBodyDto {
  @IsString() @NotBlank() @MaxLength(LONGEST_NAME) name!: string;
  @Optional()
  @IsIn(['read', 'write'])
  @Described('Default: `write`. A key never does more than the member who created it')
  scope?: string;
  @Nullable() @DateTime() @Described('Default: never') expiresAt?: string | null;
}

/** `PATCH /v1/keys/{id}` */
export class KeyChangeDto {
  @IsString() @NotBlank() @MaxLength(LONGEST_NAME) name!: string;
}
