import { Described, HttpUrl, Optional } from '../../http/validators.js';

/** The body of sending an event again. */
export class ResendBodyDto {
  @Optional() @HttpUrl() @Described('Where to; the present webhook URL unless given') url?: string;
}
