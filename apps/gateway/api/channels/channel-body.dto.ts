import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Length } from 'class-validator';
import { CHANNEL_KINDS, type ChannelKind } from '#contracts';
import {
  Check,
  Described,
  Elements,
  httpUrlFault,
  Nested,
  NotBlank,
  Optional,
} from '../../http/validators.js';
import { addressFault } from '../../http/email-address.js';

const MAX_URL_LENGTH = 2048;

/**
 * Returns the fault of a webhook address that is a secret. Also accepts the masked form from responses: then the stored
 * address does not change.
 */
function secretUrlFault(value: unknown): string | undefined {
  return isMasked(value) ? undefined : httpUrlFault(value);
}

/**
 * Returns the fault of a bot's token. The token becomes a part of a URL's path, so only some characters are accepted.
 */
function botTokenFault(value: unknown): string | undefined {
  if (isMasked(value) || (typeof value === 'string' && /^\d{1,20}:[\w-]{5,100}$/.test(value)))
    return undefined;
  return 'must be the token of a bot, such as 123456:ABC-DEF';
}

function chatIdFault(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return undefined;
  if (typeof value === 'string' && /^(-?\d{1,20}|@\w{4,64})$/.test(value)) return undefined;
  return 'must be the id of a chat (-1001234567890) or the name of a public channel (@name)';
}

/** Returns true for the masked form of a secret: `…` and at most four characters. */
export function isMasked(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('…') && value.length <= 5;
}

/** The destination of a channel. Its keys depend on the kind. */
@Described(
  'email: `to`. slack, discord, teams: `webhookUrl`. telegram: `botToken`, `chatId`. webhook: `url`. Responses contain a secret as `…` and its last four characters. If a request contains a secret in this form, the stored secret does not change.',
)
export class ChannelConfigDto {
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(10)
  @Elements(addressFault, { type: 'string', maxLength: 254 })
  to?: string[];
  @Optional()
  @Check(secretUrlFault, { type: 'string', minLength: 1, maxLength: MAX_URL_LENGTH })
  webhookUrl?: string;
  @Optional() @Check(botTokenFault, { type: 'string', minLength: 1 }) botToken?: string;
  @Optional() @Check(chatIdFault, { type: ['string', 'integer'] }) chatId?: string | number;
  @Optional() @Check(httpUrlFault, { type: 'string', minLength: 1, maxLength: MAX_URL_LENGTH }) url?: string;
}

/** The body of a request that creates a channel. */
export class ChannelBodyDto {
  @IsIn(CHANNEL_KINDS) kind!: ChannelKind;
  @IsString() @Length(1, 80) @NotBlank() name!: string;
  @Nested(() => ChannelConfigDto) config!: ChannelConfigDto;
}

/** The body of a request that changes a channel. */
export class ChannelChangeDto {
  @Optional() @IsString() @Length(1, 80) @NotBlank() name?: string;
  @Optional() @Nested(() => ChannelConfigDto) config?: ChannelConfigDto;
}
