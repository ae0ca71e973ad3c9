import { IsString, MaxLength, MinLength } from 'class-validator';
import { NewPassword, ExistingPassword } from '../auth/password-rules.js';
import { addressFault } from '../http/email-address.js';
import { Check, Described, Optional } from '../http/validators.js';

const MAX_CODE_LENGTH = 1000;
const MAX_ADDRESS_LENGTH = 254;

/** Requires a text with the form of an email address. */
function Address(): PropertyDecorator {
  return Check(addressFault, { type: 'string', format: 'email', maxLength: MAX_ADDRESS_LENGTH });
}

/** `POST /v1/auth/sign-up` */
export class SignUpDto {
  @Address() email!: string;
  @Optional()
  @NewPassword()
  @Described(
    '10 to 200 characters. Required with a code. Without a code, the password is chosen later, with the code from the mail',
  )
  password?: string;
  @Optional()
  @IsString()
  @MaxLength(80)
  @Described('Name of a new account. An invitation is for an existing account, so it needs no name')
  name?: string;
  @Optional()
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_CODE_LENGTH)
  @Described('The code of the first account, of an invitation, or of a mail')
  code?: string;
}

/** `POST /v1/auth/sign-in` */
export class SignInDto {
  @IsString() @MaxLength(MAX_ADDRESS_LENGTH) email!: string;
  @ExistingPassword() password!: string;
}

/** `POST /v1/auth/password` */
export class PasswordChangeDto {
  @ExistingPassword() currentPassword!: string;
  @NewPassword() newPassword!: string;
}

/** `POST /v1/auth/password/reset` */
export class PasswordResetDto {
  @Address() email!: string;
}

/** `POST /v1/auth/password/reset/confirm` */
export class PasswordResetConfirmDto {
  @IsString() @MinLength(1) @MaxLength(MAX_CODE_LENGTH) @Described('From the link') token!: string;
  @NewPassword() newPassword!: string;
}
