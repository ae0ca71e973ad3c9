import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  Min,
} from 'class-validator';
import { SOURCE_IDS, type SourceId } from '#contracts';
import { Described, NotBlank, Optional } from '../../http/validators.js';

/** The default maximum number of items of one source. */
export const DEFAULT_EXPLORE_ITEMS = 25;

const MAX_TERMS = 5;
const MAX_FEEDS = 20;

/** The body of an Explore and of its estimate. */
export class ExploreBodyDto {
  @IsString()
  @Length(1, 500)
  @NotBlank()
  @Described('The question that the sources get')
  question!: string;
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SOURCE_IDS.length)
  @ArrayUnique()
  @IsIn(SOURCE_IDS, { each: true })
  sources!: SourceId[];
  @Optional() @IsString() @Length(1, 20) @Described('Default: `global`') market?: string;
  @Optional()
  @IsInt()
  @Min(1)
  @Max(100)
  @Described('Maximum number of items from each source', { default: DEFAULT_EXPLORE_ITEMS })
  limit?: number;
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_TERMS)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(1, 60, { each: true })
  @Described(
    'Used instead of the question to find posts that contain any of these terms. `ai_answers` still gets the question',
  )
  terms?: string[];
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_FEEDS)
  @IsString({ each: true })
  @Described('The feeds that `rss` reads; required for `rss`')
  feedUrls?: string[];
}
