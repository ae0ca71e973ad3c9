import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsPositive,
  IsString,
  IsUUID,
  Length,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { SOURCE_IDS, type SourceId } from '#contracts';
import { Check, Nullable, Optional } from '../../http/validators.js';
import { clauseValueFault, OPERATORS } from './rule-fields.js';

/** One comparison of a mention's field. */
export class ClauseDto {
  @IsString() @MinLength(1) field!: string;
  @IsIn(OPERATORS) op!: string;
  @Check((value, clause) => clauseValueFault(value, clause.field, clause.op)) value?: unknown;
}

/** What every condition has. The kinds beyond are told by `kind`. */
export class ConditionDto {
  @IsIn(['item', 'volume', 'sentiment_shift']) kind!: string;
}

/** A condition on each mention: all clauses hold. */
export class ItemConditionDto extends ConditionDto {
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(8) @ValidateNested({ each: true }) @Type(() => ClauseDto) all!: ClauseDto[];
}

/** A condition on the number of mentions, or on the share of negative ones, in a window. */
export class WindowConditionDto extends ConditionDto {
  @IsIn(['1h', '24h']) window!: string;
  @IsInt() @IsPositive() min!: number;
  @IsNumber() @Min(1) multiple!: number;
}

/** What a rule does. */
export class ActionDto {
  @IsIn(['notify', 'webhook', 'mark', 'stop']) type!: string;
  @Optional() @IsArray() @ArrayMaxSize(5) @IsUUID(undefined, { each: true }) channelIds?: string[];
  @Optional() @IsIn(['to_reply', 'starred', 'flagged', 'hidden']) label?: string;
}

/** A rule of a keyword. */
export class RuleDto {
  @Optional() @IsUUID() id?: string;
  @IsString() @Length(1, 60) name!: string;
  @Optional() @IsBoolean() enabled?: boolean;
  @Nullable() @IsIn(SOURCE_IDS) source?: SourceId | null;
  @Check((value) => (typeof value === 'object' && value !== null ? undefined : 'must be a condition'))
  @ValidateNested()
  @Type(() => ConditionDto, {
    keepDiscriminatorProperty: true,
    discriminator: {
      property: 'kind',
      subTypes: [
        { name: 'item', value: ItemConditionDto },
        { name: 'volume', value: WindowConditionDto },
        { name: 'sentiment_shift', value: WindowConditionDto },
      ],
    },
  })
  when!: ConditionDto;
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(4) @ValidateNested({ each: true }) @Type(() => ActionDto) then!: ActionDto[];
}
