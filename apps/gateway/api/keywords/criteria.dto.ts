import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsPositive,
  IsString,
  Length,
  length,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { MATCH_MODES, SOURCE_IDS, type MatchMode, type SourceId } from '#contracts';
import { isInvisible } from '#matching';
import {
  KeepUnchanged,
  Check,
  Described,
  Elements,
  Id,
  jsonSizeFault,
  ListOf,
  NotBlank,
  Nested,
  Nullable,
  Optional,
} from '../../http/validators.js';
import { FREE_FORM, textOf } from '../../openapi/schema.js';

/**
 * Maximum number of terms, much larger than the limit of every plan. The limit of the account's plan is checked later.
 */
const MAX_TERMS = 500;
const MAX_TERM_LENGTH = 60;
/**
 * Maximum size of the filters as JSON, in KiB. A keyword is one message, which contains the filters of all its
 * searches.
 */
const MAX_FILTERS_KIB = 16;
/** The fields `page` and `perPage` are stored as 32-bit integers. */
const MAX_PAGE = 2 ** 31 - 1;
/** In seconds: one year. */
export const MAX_INTERVAL_SECONDS = 31_536_000;

function termFault(term: unknown): string | undefined {
  if (typeof term !== 'string') return 'must be a string';
  return length(term, 1, MAX_TERM_LENGTH) ? undefined : `must have 1 to ${MAX_TERM_LENGTH} characters`;
}

class CriteriaFieldsDto {
  @Optional()
  @IsString()
  @MaxLength(512)
  @Check((value) =>
    typeof value === 'string' && isInvisible(value) ? 'must have a visible character' : undefined,
  )
  query?: string;
  @Optional() @IsNumber() @Min(0) priceMin?: number;
  @Optional() @IsNumber() @Min(0) priceMax?: number;
  @Optional() @IsString() sort?: string;
  @Optional() @IsInt() @IsPositive() @Max(MAX_PAGE) @Described('Without effect') page?: number;
  @Optional() @IsInt() @IsPositive() @Max(MAX_PAGE) @Described('Without effect') perPage?: number;
  @Optional()
  @IsObject()
  @Check((value) => jsonSizeFault(value, MAX_FILTERS_KIB), FREE_FORM)
  @KeepUnchanged()
  @Described(
    `Filters, with the keys that the sources define. Earshot stores them unchanged. At most ${MAX_FILTERS_KIB} KiB.`,
  )
  filters?: Record<string, unknown>;
  @Optional() @IsIn(MATCH_MODES) @Described('How a term is compared with the text') match?: MatchMode;
  @Optional()
  @IsArray()
  @ArrayMinSize(2, { message: 'must contain at least 2 terms; put a single term into query' })
  @ArrayMaxSize(MAX_TERMS)
  @Elements(termFault, textOf(1, MAX_TERM_LENGTH))
  @Described(
    'At least one of these terms must match. If `query` is also set, it must match too. The plan limits the number of terms.',
  )
  terms?: string[];
  @Optional() @IsString() @Length(1, 16) repliesTo?: string;
}

/** Criteria of one search: its overrides of the global criteria, or all criteria of a watch without a keyword. */
export class CriteriaDto extends CriteriaFieldsDto {
  @Optional() @IsString() @MinLength(1) @NotBlank() market?: string;
}

/** The default criteria of all searches of a keyword. */
export class GlobalCriteriaDto extends CriteriaFieldsDto {
  @IsString() @MinLength(1) @NotBlank() market!: string;
}

/** One search of a source. */
export class SearchDto {
  @Optional() @Id() id?: string;
  @Nullable() @IsString() @MaxLength(80) label?: string | null;
  @Optional()
  @IsBoolean()
  @Described('False: the overrides are stored, but not used. Default: true if the search has `overrides`')
  overridesEnabled?: boolean;
  @Optional()
  @Nested(() => CriteriaDto)
  @Described('Keys that replace the same keys of the global criteria')
  overrides?: CriteriaDto;
}

/** A source of a keyword. */
export class SourceEntryDto {
  @IsIn(SOURCE_IDS) source!: SourceId;
  @IsBoolean() enabled!: boolean;
  @Optional() @ListOf(() => SearchDto, 0, 100) searches?: SearchDto[];
  @Nullable()
  @IsInt()
  @IsPositive()
  @Max(MAX_INTERVAL_SECONDS)
  @Described('Replaces the interval of the keyword for this source')
  refreshIntervalSeconds?: number | null;
}
