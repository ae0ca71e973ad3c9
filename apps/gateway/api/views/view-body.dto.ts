import { IsString, Length, MaxLength } from 'class-validator';
import { Described, NotBlank } from '../../http/validators.js';

/** Filters of the feed that members of an account share. */
export class ViewBodyDto {
  @IsString() @Length(1, 80) @NotBlank() name!: string;
  @IsString()
  @MaxLength(2000)
  @Described('The query string of the feed’s address, such as `source=reddit&sentiment=negative`')
  query!: string;
}
