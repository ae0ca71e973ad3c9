import { IsString, Length, MaxLength } from 'class-validator';
import { Described, NotBlank } from '../../http/validators.js';

/** The body of a saved view: filters of the dashboard’s page `/feed`. All members of the account see the view. */
export class ViewBodyDto {
  @IsString() @Length(1, 80) @NotBlank() name!: string;
  @IsString()
  @MaxLength(2000)
  @Described(
    'The query string of the address of the dashboard’s page `/feed`, such as `source=reddit&sentiment=negative`',
  )
  query!: string;
}
