import { Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
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
import { JSONSchema } from 'class-validator-jsonschema';
import { SOURCE_IDS, type SourceId } from '#contracts';
import { MAX_VALUE_CHARACTERS, MAX_VALUES, OPERATORS, valueShapeFault } from '#rules';
import { Check, Id, ListOf, NotBlank, Nullable, Optional } from '../../http/validators.js';
import { BOOLEAN, listOf, NUMBER, object, ref, textOf } from '../../openapi/schema.js';

const VALUE_TEXT = textOf(1, MAX_VALUE_CHARACTERS);
/** The field and the operator of a clause decide which of these types its value must have. */
const CLAUSE_VALUE = {
  anyOf: [
    VALUE_TEXT,
    NUMBER,
    BOOLEAN,
    listOf(VALUE_TEXT, 1, MAX_VALUES),
    object({ text: VALUE_TEXT }, { threshold: NUMBER }),
  ],
};

/** One comparison of a mention's field. */
export class ClauseDto {
  @IsString() @MinLength(1) field!: string;
  @IsIn(OPERATORS) op!: string;
  // `ruleFaults` checks that the value fits the field and the operator. The value can be absent only if
  // the operator is `exists`.
  @Optional()
  @Check(valueShapeFault, CLAUSE_VALUE)
  value?: unknown;
}

/** The common part of all conditions. `kind` selects the type of condition. */
@JSONSchema(() => ({ oneOf: [ref('ItemCondition'), ref('WindowCondition')] }))
export class ConditionDto {
  @IsIn(['item', 'volume', 'sentiment_shift']) kind!: string;
}

/** A condition on each mention: all clauses must match. */
export class ItemConditionDto extends ConditionDto {
  @IsIn(['item']) declare kind: string;
  @ListOf(() => ClauseDto, 1, 8) all!: ClauseDto[];
}

/** A condition on the number of mentions (`volume`), or of negative mentions (`sentiment_shift`), in a window. */
export class WindowConditionDto extends ConditionDto {
  @IsIn(['volume', 'sentiment_shift']) declare kind: string;
  @IsIn(['1h', '24h']) window!: string;
  @IsInt() @IsPositive() min!: number;
  @IsNumber() @Min(1) multiple!: number;
}

/** A condition with an unknown kind. The values of its other known keys are not checked. */
export class UnknownConditionDto extends ConditionDto {
  @Allow() all?: unknown;
  @Allow() window?: unknown;
  @Allow() min?: unknown;
  @Allow() multiple?: unknown;
}

const CONDITIONS = new Map<unknown, new () => ConditionDto>([
  ['item', ItemConditionDto],
  ['volume', WindowConditionDto],
  ['sentiment_shift', WindowConditionDto],
]);

/** One action of a rule. */
export class ActionDto {
  @IsIn(['notify', 'webhook', 'mark', 'stop']) type!: string;
  @Optional()
  @IsArray()
  @ArrayMaxSize(5)
  @IsUUID(undefined, { each: true })
  @Transform(
    ({ value }) =>
      Array.isArray(value)
        ? value.map((id: unknown) => (typeof id === 'string' ? id.toLowerCase() : id))
        : (value as unknown),
    { toClassOnly: true },
  )
  channelIds?: string[];
  @Optional() @IsIn(['to_reply', 'starred', 'flagged', 'hidden']) label?: string;
}

/** A rule of a keyword. */
export class RuleDto {
  @Optional() @Id() id?: string;
  @IsString() @Length(1, 60) @NotBlank() name!: string;
  @Optional() @IsBoolean() enabled?: boolean;
  @Nullable() @IsIn(SOURCE_IDS) source?: SourceId | null;
  @Check((value) => (typeof value === 'object' && value !== null ? undefined : 'must be a condition'))
  @ValidateNested({ context: { dto: () => ConditionDto } })
  @Type((options) => conditionClassOf(options?.object.when))
  // A list is replaced by null, because class-validator accepts a list where an object is expected, but refuses null.
  @Transform(({ value }) => (Array.isArray(value) ? null : (value as unknown)), { toClassOnly: true })
  when!: ConditionDto;
  @ListOf(() => ActionDto, 1, 4) then!: ActionDto[];
}

function conditionClassOf(when: unknown): new () => ConditionDto {
  const kind = typeof when === 'object' && when !== null ? (when as { kind?: unknown }).kind : undefined;
  return CONDITIONS.get(kind) ?? UnknownConditionDto;
}
