import { plainToInstance, Transform, type ClassConstructor } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsPositive,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { BUCKET_PRESETS, SOURCE_IDS, SUBJECT_ROLES, type SourceId } from '#contracts';
import { MUTE_MATCHES, MUTE_TARGETS } from '#matching';
import {
  emptiedIfTooLong,
  DateTimeOrNull,
  Described,
  flat,
  HttpUrlOrEmpty,
  Id,
  LanguageTags,
  ListOf,
  NotBlank,
  Nested,
  Nullable,
  Optional,
  TimeZone,
} from '../../http/validators.js';
import { AgentStepDto } from './agent-step.dto.js';
import { GlobalCriteriaDto, MAX_INTERVAL_SECONDS, SourceEntryDto } from './criteria.dto.js';
import { RuleDto } from './rule.dto.js';

/** A mute. A body can also contain a string, which is the `value` of a mute. */
export class MuteDto {
  @IsString() @Length(1, 60) @NotBlank() value!: string;
  @Optional()
  @IsIn(MUTE_TARGETS)
  @Described('The part of an item that is compared. Default: `text`, which is the title and the body')
  target?: string;
  @Nullable() @IsIn(SOURCE_IDS) @Described('Only for this source; null for all') source?: SourceId | null;
  @Optional()
  @IsIn(MUTE_MATCHES)
  @Described('Default: `exact` for the targets `author` and `community`, otherwise `word`')
  match?: string;
}

/** A VIP. A body can also contain a string, which is the `handle` of a VIP. */
export class VipDto {
  @IsString() @Length(1, 60) @NotBlank() handle!: string;
  @Nullable() @IsIn(SOURCE_IDS) @Described('Only for this source; null for all') source?: SourceId | null;
  @Nullable() @IsString() @MaxLength(120) note?: string | null;
}

/** A channel of a keyword, and how the channel gets the keyword's mentions. */
export class KeywordChannelDto {
  @Id() channelId!: string;
  @IsIn(['instant', 'hourly', 'daily', 'daily_brief', 'weekly_report'])
  @Described(
    '`instant`: each mention immediately. `hourly`, `daily`: a digest. `daily_brief`: a daily digest with a short summary. `weekly_report`: a report with figures',
  )
  mode!: string;
}

/** When a keyword runs. All three keys are required. */
export class ScheduleDto {
  @DateTimeOrNull() startsAt!: string | null;
  @DateTimeOrNull() endsAt!: string | null;
  @IsString()
  @Length(1, 64)
  @TimeZone()
  @Described('IANA name; applies to times without an offset')
  timezone!: string;
}

/** The events of the keyword itself that a webhook can get, in addition to mentions. */
export const WEBHOOK_EVENTS = [
  'keyword.alert_fired',
  'keyword.report_ready',
  'keyword.paused',
  'keyword.resumed',
  'channel.disabled',
] as const;

const TEXT_OR_OBJECT = 'must be a string or an object';

/**
 * The part of a keyword that decides what happens to the keyword's items. A backtest can test other values of this
 * part.
 */
export class TreatmentDto {
  @Optional()
  @IsArray()
  @ArrayMaxSize(50)
  @ValidateNested({ each: true, message: TEXT_OR_OBJECT, context: { dto: () => MuteDto, bareKey: 'value' } })
  @Described('A string is the `value` of a mute')
  @Transform(({ value }) => instances(MuteDto, value, 'value', 50), { toClassOnly: true })
  muteRules?: MuteDto[];
  @Optional()
  @IsArray()
  @ArrayMaxSize(100)
  @ValidateNested({ each: true, message: TEXT_OR_OBJECT, context: { dto: () => VipDto, bareKey: 'handle' } })
  @Described('A string is the `handle` of a VIP')
  @Transform(({ value }) => instances(VipDto, value, 'handle', 100), { toClassOnly: true })
  vipAuthors?: VipDto[];
  @Optional() @ListOf(() => RuleDto, 0, 20) rules?: RuleDto[];
  @Nullable()
  @IsIn(['low', 'medium', 'high'])
  @Described(
    'Sensitivity of the alert for unusually many mentions in an hour; `high` fires most often. Null: no alert',
  )
  spikeAlert?: string | null;
  @Nullable()
  @IsInt()
  @Min(0)
  @Max(100)
  @Described('Mentions with a lower relevance are dropped with the reason `irrelevant`, and are not charged')
  minRelevance?: number | null;
}

/** The body of a request that creates a keyword. */
@Described(
  '`KeywordBodyInSnakeCase` is the same body in snake_case. A body can mix both spellings, but must not contain the same key in both.',
)
export class KeywordBodyDto extends TreatmentDto {
  @IsString() @Length(1, 80) @NotBlank() name!: string;
  @IsInt()
  @IsPositive()
  @Max(MAX_INTERVAL_SECONDS)
  @Described(
    'Seconds between two checks; at least the shortest interval that the plan allows for each source',
  )
  refreshIntervalSeconds!: number;
  @Nested(() => GlobalCriteriaDto) globalCriteria!: GlobalCriteriaDto;
  @ListOf(() => SourceEntryDto, 1, SOURCE_IDS.length) sources!: SourceEntryDto[];
  @Nullable()
  @HttpUrlOrEmpty()
  @Described('Address that receives the events; empty or null for none')
  webhookUrl?: string | null;
  @Optional()
  @IsBoolean()
  @Described('Sort mentions into buckets by `aiPreset`. Default: false')
  aiEnabled?: boolean;
  @Nullable()
  @IsIn(BUCKET_PRESETS)
  @Described('How buckets are formed; `custom` needs a language model (`LLM_URL`)')
  aiPreset?: string | null;
  @Nullable()
  @IsString()
  @MaxLength(400)
  @Described(
    'What is relevant, such as "the airline, not the river". With `custom`, also the task of the buckets',
  )
  aiPrompt?: string | null;
  @Nullable()
  @Nested(() => AgentStepDto)
  @Described('Asks the language model about each mention; needs `LLM_URL`')
  aiStep?: AgentStepDto | null;
  @Optional()
  @IsBoolean()
  @Described('Read sentiment and intent, and charge for them. Default: true')
  sentimentEnabled?: boolean;
  @Optional()
  @IsBoolean()
  @Described('Find other brands in mentions; costs credits only for `ai_answers`. Default: false')
  coBrandsEnabled?: boolean;
  @Optional()
  @IsIn(SUBJECT_ROLES)
  @Described(
    '`own`, `competitor`: sentiment is the stance toward the subject. `topic`: the mood of the text. Default: `own`',
  )
  subjectRole?: string;
  @Optional()
  @IsIn(['all', 'rules'])
  @Described(
    '`all`: the webhook gets the events of all mentions. `rules`: only those that a rule sends. Of the events of the keyword itself, the webhook gets those in `webhookEvents`, and alerts of rules with the action `webhook`. Default: `all`',
  )
  webhookMode?: string;
  @Optional()
  @IsArray()
  @ArrayMaxSize(5)
  @IsIn(WEBHOOK_EVENTS, { each: true })
  @Described('Events of the keyword itself that the webhook gets too. Default: none')
  webhookEvents?: string[];
  @Optional() @ListOf(() => KeywordChannelDto, 0, 5) channels?: KeywordChannelDto[];
  @Optional()
  @IsBoolean()
  @Described(
    'Keep the items of the first check as mentions. On `x`, this check then costs one credit for each returned post, instead of the price of a check. Readings of the items cost extra.',
  )
  backfill?: boolean;
  @Nullable() @Nested(() => ScheduleDto) schedule?: ScheduleDto | null;
  @Nullable()
  @IsArray()
  @ArrayMaxSize(10)
  @LanguageTags()
  @Described(
    'BCP 47 codes; `pt` accepts `pt-BR`, and the reverse. Mentions in other languages are dropped with the reason `language`; mentions whose language was not recognised are kept',
  )
  languages?: string[] | null;
}

/**
 * The read-only keys of a keyword. They are ignored in the bodies of changes and of their estimates, and in the bodies
 * of creates and estimates under `/v1/queries`. So a keyword can be read and sent back.
 */
export const READ_ONLY_KEYS = [
  'id',
  'state',
  'pausedReason',
  'createdAt',
  'updatedAt',
  'version',
  'monthlyCredits',
  'watches',
  'resetSearches',
  'warnings',
] as const;

/**
 * Replaces each string of a list by an object that has only this key. Validation refuses elements that are neither
 * strings nor objects.
 */
function instances<T>(dto: ClassConstructor<T>, value: unknown, key: string, max: number): unknown {
  const items = emptiedIfTooLong(flat(value), max);
  if (!Array.isArray(items)) return items;
  return items.map((item: unknown) => {
    const plain = typeof item === 'string' ? { [key]: item } : item;
    return typeof plain === 'object' && plain !== null ? plainToInstance(dto, plain) : plain;
  });
}
