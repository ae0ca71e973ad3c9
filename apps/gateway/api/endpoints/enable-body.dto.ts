import { HttpUrl } from '../../http/validators.js';

/** The body of a request to enable an endpoint. */
export class EnableBodyDto {
  @HttpUrl() url!: string;
}
