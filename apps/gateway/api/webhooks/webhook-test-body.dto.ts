import { IsIn } from 'class-validator';
import { EVENT_TYPES } from '#contracts';
import { Described, HttpUrl, Optional } from '../../http/validators.js';

/** The body of a request that tests a webhook. */
export class WebhookTestBodyDto {
  @HttpUrl() url!: string;
  @Optional()
  @IsIn(EVENT_TYPES, { message: 'must be a type of event, such as hn_item.created' })
  @Described('Type of the sample event. Default: `hn_item.created`')
  type?: string;
}
