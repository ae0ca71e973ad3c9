import { readSelections, selected } from './graphql.js';
import type { GraphqlObject } from './graphql.js';

const LAMP: GraphqlObject = {
  __typename: 'Lamp',
  name: 'A',
  watts: 5,
  makers: [
    { __typename: 'Person', name: 'Ada' },
    { __typename: 'Firm', name: 'Acme', number: 7 },
  ],
  shade: null,
};

describe('a GraphQL query', () => {
  it('is read with its arguments, variables and aliases', () => {
    const query = `
      # The lamps of a room.
      query Lamps($room: String!, $most: Int = 3) {
        all: lamps(room: $room, first: 2, sizes: NEWEST, on: true, off: null, text: "a \\"b\\"") { name, watts }
        count
      }`;
    expect(readSelections(query, { room: 'kitchen' })).toEqual([
      {
        key: 'all',
        name: 'lamps',
        args: { room: 'kitchen', first: 2, sizes: 'NEWEST', on: true, off: null, text: 'a "b"' },
        fields: [
          { key: 'name', name: 'name', args: {}, fields: [] },
          { key: 'watts', name: 'watts', args: {}, fields: [] },
        ],
      },
      { key: 'count', name: 'count', args: {}, fields: [] },
    ]);
  });

  it('selects the named fields of an object under their aliases; an inline fragment selects only from its type', () => {
    const query =
      '{ watts title: name shade { colour } makers { __typename ... on Firm { number } ... on Person { name } } }';
    expect(selected(readSelections(query, {}), LAMP)).toEqual({
      watts: 5,
      title: 'A',
      shade: null,
      makers: [
        { __typename: 'Person', name: 'Ada' },
        { __typename: 'Firm', number: 7 },
      ],
    });
  });

  it.each([
    ['{ colour }', "Field 'colour' doesn't exist on type 'Lamp'"],
    ['{ makers { number } }', "Field 'number' doesn't exist on type 'Person'"],
    [
      '{ makers }',
      "Field must have selections (field 'makers' returns Person but has no selections. Did you mean 'makers { ... }'?)",
    ],
    ['{ name', 'Unexpected end of document'],
    ['{ name } }', 'Parse error on "}"'],
    ['mutation { name }', 'Parse error on "mutation"'],
    ['{ name(first: ) }', 'Parse error on ")"'],
  ])('is refused if it is not valid: %s', (query, message) => {
    expect(() => selected(readSelections(query, {}), LAMP)).toThrow(message);
  });
});
