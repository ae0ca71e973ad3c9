import { IsIn, IsString, MaxLength } from 'class-validator';
import { Described, Nullable, Optional, TimeZone } from '../../http/validators.js';

/** The settings of an account that its owners can change. */
export class AccountChangeDto {
  @Nullable() @IsString() @MaxLength(80) name?: string | null;
  @Optional() @TimeZone() @Described('IANA name, for example Europe/Berlin') timezone?: string;
  @Optional()
  @IsIn(['v1', 'legacy'])
  @Described('`legacy` is the plain hex HMAC of the body')
  signatureVersion?: string;
}
