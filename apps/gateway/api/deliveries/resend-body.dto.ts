import { Described, HttpUrl, Optional } from '../../http/validators.js';

/** The body of a request to send an event again. */
export class ResendBodyDto {
  @Optional() @HttpUrl() @Described('Receiver. Default: the present webhook URL') url?: string;
}
