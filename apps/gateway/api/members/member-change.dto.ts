import { IsIn } from 'class-validator';
import { MEMBER_ROLES } from '#contracts';
import { Described } from '../../http/validators.js';

/** `PATCH /v1/members/{id}` */
export class MemberChangeDto {
  @IsIn(MEMBER_ROLES)
  @Described(
    'A viewer can only read. An editor can also change keywords, watches, channels and mentions, and create API keys. An owner can do everything',
  )
  role!: string;
}
