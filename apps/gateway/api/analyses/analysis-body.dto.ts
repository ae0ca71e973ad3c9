import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsObject,
  IsString,
  Length,
} from 'class-validator';
import { isId, type Fault } from '#kernel';
import { foldTerm } from '#matching';
import { KeepUnchanged, Check, Described, Elements, NotBlank, Optional } from '../../http/validators.js';
import { AGENT_FIELDS, agentFieldsFault } from '../keywords/agent-step.dto.js';
import { MODEL_NEEDED } from '../keywords/model-faults.js';

export const ANALYSES = ['group', 'classify', 'agent', 'summarise'] as const;

const MAX_MENTIONS = 200;
const MAX_CLASSES = 20;
const MAX_CLASS_LENGTH = 60;

/** The body of `POST /v1/analyses`. */
export class AnalysisBodyDto {
  @IsIn(ANALYSES)
  operation!: (typeof ANALYSES)[number];

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_MENTIONS)
  @IsString({ each: true })
  @Elements((one) => (typeof one !== 'string' || isId(one) ? undefined : 'must be the id of a mention'), {
    type: 'string',
    format: 'uuid',
  })
  @Described('A mention is charged at most once, even if the list contains the mention twice')
  mentionIds!: string[];

  @Optional()
  @IsString()
  @Length(1, 800)
  @NotBlank()
  @Described(
    'For `agent`: the task, required. For `summarise`: the topic of the summary. For `group`: how a language model groups the mentions. For `classify`: the meaning of the classes, for a language model',
  )
  instruction?: string;

  @Optional()
  @IsObject()
  @KeepUnchanged()
  @Check(agentFieldsFault, AGENT_FIELDS)
  @Described('Only for `agent`, required: the fields of each output')
  schema?: Record<string, unknown>;

  @Optional()
  @IsArray()
  @ArrayMinSize(2)
  @ArrayMaxSize(MAX_CLASSES)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(1, MAX_CLASS_LENGTH, { each: true })
  @Elements((one) => (typeof one === 'string' && foldTerm(one) === '' ? 'must not be blank' : undefined), {
    type: 'string',
    minLength: 1,
    maxLength: MAX_CLASS_LENGTH,
  })
  @Described(
    'Only for `classify`, required: labels that describe their class, for example "delivery problems"',
  )
  classes?: string[];
}

/**
 * Returns the faults of missing keys, and of keys that the operation does not read. If the installation has no language
 * model, also returns the faults of the operations and keys that need a model.
 */
export function analysisFaults(body: AnalysisBodyDto, hasModel: boolean): Fault[] {
  const { operation } = body;
  const required = {
    group: [],
    classify: ['classes'],
    agent: ['instruction', 'schema'],
    summarise: [],
  } as const;
  const accepted = {
    ...required,
    group: ['instruction'],
    classify: ['classes', 'instruction'],
    summarise: ['instruction'],
  } as const;
  if (!(ANALYSES as readonly string[]).includes(operation)) return [];
  const given = (['instruction', 'schema', 'classes'] as const).filter((key) => body[key] !== undefined);
  const missing = required[operation].filter((key) => body[key] === undefined);
  const unread = given.filter((key) => !(accepted[operation] as readonly string[]).includes(key));
  return [
    ...missing.map((path) => ({ path, message: `is required by ${operation}` })),
    ...unread.map((path) => ({ path, message: `is not read by ${operation}` })),
    ...(operation === 'agent' && !hasModel ? [{ path: 'operation', message: `agent ${MODEL_NEEDED}` }] : []),
    ...(['group', 'classify'].includes(operation) && body.instruction !== undefined && !hasModel
      ? [{ path: 'instruction', message: `of ${operation} ${MODEL_NEEDED}` }]
      : []),
  ];
}
