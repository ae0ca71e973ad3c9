import { create } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '#clickhouse';
import { KeywordDefinitionSchema } from '#contracts';
import { LOCAL_MODEL } from '../readings/local-reader.js';
import type { Similarities } from '../rules/similarities.js';
import { StoredMentions } from './stored-mentions.js';

/** The mentions of an installation whose search uses the vectors of this model. No test reads a mention. */
const searchedWith = (model: string) =>
  new StoredMentions({} as ClickHouseClient, {} as Similarities, { model });
const ruleOn = (field: string, op = 'similar_to') =>
  create(KeywordDefinitionSchema, {
    rules: [
      {
        id: '0190a000-0000-7000-8000-000000000001',
        name: 'Refunds',
        enabled: true,
        when: {
          kind: 'item',
          all: [{ field, op, value: op === 'similar_to' ? { text: 'refund' } : 'refund' }],
        },
      },
    ],
  });

describe('a backtest', () => {
  it.each([
    ['need not embed', 'text', 'the local model', LOCAL_MODEL.embedding, false],
    ['embeds', 'text', 'another model', 'server:m', true],
    ['embeds', 'title', 'the local model', LOCAL_MODEL.embedding, true],
    ['embeds', 'body', 'the local model', LOCAL_MODEL.embedding, true],
  ])(
    '%s each mention for a rule about the meaning of the field `%s` if the search uses %s',
    (_, field, __, model, expected) => {
      expect(searchedWith(model).embedsEach(ruleOn(field))).toBe(expected);
    },
  );

  it('embeds no mention if no rule compares a meaning', () => {
    expect(searchedWith('server:m').embedsEach(ruleOn('text', 'contains'))).toBe(false);
  });
});
