import { IsIn } from 'class-validator';
import { MEMBER_ROLES } from '#contracts';
import { Described } from '../../http/validators.js';

/** `PATCH /v1/members/{id}` */
export class MemberChangeDto {
  @IsIn(MEMBER_ROLES)
  @Described('A viewer reads; an editor also changes what is watched, and has keys; an owner does everything')
  role!: string;
}
