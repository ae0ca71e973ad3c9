import { IsIn } from 'class-validator';
import { MEMBER_ROLES } from '#contracts';
import { addressFault } from '../../http/email-address.js';
import { Check } from '../../http/validators.js';

/** `POST /v1/invitations` */
export class InvitationBodyDto {
  @Check(addressFault, { type: 'string', format: 'email', maxLength: 254 }) email!: string;
  @IsIn(MEMBER_ROLES) role!: string;
}
