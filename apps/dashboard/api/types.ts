import type { AnswerOf, components } from '../../../clients/typescript/src/index.js';

// Short names for the types of the API.

type Schemas = components['schemas'];

export type Mention = Schemas['Mention'];
export type Why = Schemas['Why'];
export type Keyword = Schemas['Keyword'];
export type KeywordBody = Schemas['KeywordBody'];
export type SourceState = AnswerOf<'get', '/v1/sources'>['data'][number];
export type Source = Mention['source'];
export type Label = Mention['labels'][number];
export type Sentiment = NonNullable<NonNullable<Mention['analysis']>['sentiment']>;
export type Intent = NonNullable<NonNullable<Mention['analysis']>['intent']>;
