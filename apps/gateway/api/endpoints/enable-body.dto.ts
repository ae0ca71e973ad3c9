import { HttpUrl } from '../../http/validators.js';

/** The body of enabling an endpoint. */
export class EnableBodyDto {
  @HttpUrl() url!: string;
}
