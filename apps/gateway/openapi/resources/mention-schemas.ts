import { MATCH_MODES } from '#contracts';
import { LABELS } from '../../reads/mention-filter.js';
import {
  BOOLEAN,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  nullable,
  object,
  oneOf,
  ref,
  TEXT,
  described,
  type Schema,
  SOURCE,
} from '../schema.js';

const count = nullable(INTEGER);
const dropped = nullable(
  object({
    reason: described('`muted`, `language`, `irrelevant`, `rule`', TEXT),
    rule: described('The mute, the language, the relevance and its limit, or the name of the rule', TEXT),
  }),
);
const itemObject = nullable(ref('ItemObject'));

export const mentionSchemas: Readonly<Record<string, Schema>> = {
  Mention: object(
    {
      id: ID,
      keywordId: nullable(ID),
      watchId: described('Null for an item that an Explore found', nullable(ID)),
      exploreId: described('The Explore that found the item; null for a mention of a watch', nullable(ID)),
      searchId: nullable(ID),
      source: SOURCE,
      type: described('Type of the event', TEXT),
      kind: described('`post`, `comment`, `video`, …', TEXT),
      url: TEXT,
      title: nullable(TEXT),
      text: TEXT,
      excerpt: described('The text around the first match', TEXT),
      author: described('Handle in the spelling of the source', nullable(TEXT)),
      authorName: nullable(TEXT),
      authorUrl: nullable(TEXT),
      vip: BOOLEAN,
      community: nullable(TEXT),
      lang: described('Language that was recognised, or that the source declares', nullable(TEXT)),
      publishedAt: nullable(INSTANT),
      occurredAt: described('Time at which Earshot found the item', INSTANT),
      backfilled: BOOLEAN,
      matchedTerms: listOf(TEXT),
      engagement: object({ likes: count, replies: count, shares: count, views: count, score: count }),
      media: listOf(object({ url: TEXT, type: TEXT })),
      truncated: described(
        'True if a part of the item was cut or left out because of its size: for example, a text is cut to 64 KiB of UTF-8, a title to 1 KiB. The body of the event then has the same key',
        BOOLEAN,
      ),
      labels: listOf(oneOf(LABELS)),
      bucket: described('Group of the keyword’s `aiPreset`', nullable(object({ key: TEXT, label: TEXT }))),
      coBrands: described('Brands that the mention names, except the subject of the keyword', listOf(TEXT)),
      ai: described('Answer of the agent step', nullable(ref('AgentAnswer'))),
      storyId: described(
        'Id of the story: the same for all mentions of one story, across sources. Null for replies, comments and answers, and for mentions with neither a link nor enough text',
        nullable(TEXT),
      ),
      listing: described('Only for vinted', itemObject),
      dropped: described('Why the mention was dropped; null if it was not dropped', dropped),
    },
    {
      analysis: described('Absent if the mention was not classified', ref('Analysis')),
      score: described('Only with `mode=semantic`: how near the mention is to the question, 0 to 1', {
        type: 'number',
        minimum: 0,
        maximum: 1,
      }),
      corrected: described(
        'Values that a person has corrected; absent if there are none',
        listOf(oneOf(['sentiment', 'intent', 'relevance'])),
      ),
    },
  ),
  MentionSeries: object({
    data: listOf(
      object({
        at: described('Beginning of the bucket in UTC', INSTANT),
        group: described('Null without `group`, and for mentions without this property', nullable(TEXT)),
        count: INTEGER,
      }),
    ),
    bucket: oneOf(['hour', 'day']),
    since: INSTANT,
    until: INSTANT,
  }),
  MentionPage: object(
    {
      data: listOf(ref('Mention')),
      since: described('Beginning of the window that was used', INSTANT),
      until: nullable(INSTANT),
      meta: object({ credits_used: INTEGER }),
    },
    {
      nextCursor: TEXT,
      lastEventId: described(
        'Value for the header `Last-Event-ID` of `GET /v1/stream`. The stream then sends every mention that is too new for this page. Present only in the first page of a list that is newest first and has neither `until` nor `mode=semantic`. Absent while NATS does not answer',
        TEXT,
      ),
    },
  ),
  Why: object({
    id: ID,
    matchMode: described(
      'How the item was matched. The value is `word` if the mode of the search is `platform` but the source has no search function',
      oneOf(MATCH_MODES),
    ),
    matchedTerms: listOf(
      described(
        'A term and the field in which it was found',
        object({ term: TEXT, field: oneOf(['title', 'text']) }),
      ),
    ),
    matches: listOf(
      described(
        'Offsets in UTF-16 code units',
        object({ term: TEXT, field: oneOf(['title', 'text']), start: INTEGER, end: INTEGER }),
      ),
    ),
    mutes: listOf(object({ value: TEXT, hit: BOOLEAN, detail: TEXT })),
    vips: listOf(object({ handle: TEXT, hit: BOOLEAN, detail: TEXT })),
    rules: described(
      'The item rules that were checked, in order, up to the rule whose action `stop` ended the checks',
      listOf(ref('RuleOutcome')),
    ),
    readings: described('How each reading was made', listOf(ref('Reading'))),
    dropped,
    itemId: TEXT,
    checkId: ID,
    eventIds: listOf(ID),
  }),
  RuleOutcome: object({
    ruleId: TEXT,
    name: TEXT,
    fired: described('True if all clauses match', BOOLEAN),
    clauses: listOf(
      object({
        field: TEXT,
        op: TEXT,
        value: described('The value of the clause; a long value is cut', {}),
        seen: described('The mention’s value of the field; null if the field has no value', {}),
        holds: BOOLEAN,
      }),
    ),
    actions: listOf(TEXT),
  }),
  ItemObject: described('Item of a source, with additional keys of that source.', {
    type: 'object',
    properties: {
      id: TEXT,
      source: SOURCE,
      url: nullable(TEXT),
      author: nullable(TEXT),
      publishedAt: nullable(INSTANT),
    },
    required: ['id', 'source'],
    additionalProperties: true,
  }),
};
