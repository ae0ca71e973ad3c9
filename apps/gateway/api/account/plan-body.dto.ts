import { IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { PLANS } from '#contracts';
import { Described, Optional } from '../../http/validators.js';

/** Maximum number of credits in a pack that is granted through the API. */
const MAX_PACK_CREDITS = 1_000_000_000;

/** `POST /v1/account/plan` */
export class PlanBodyDto {
  @IsIn(PLANS) plan!: string;
}

/** `POST /v1/credits/packs` */
export class PackBodyDto {
  @IsInt() @Min(1) @Max(MAX_PACK_CREDITS) @Described('The credits do not expire') credits!: number;
  @Optional() @IsString() @MaxLength(200) @Described('The reason, for the ledger') note?: string;
}
