import type { DescField, DescMessage } from '@bufbuild/protobuf';
import {
  EventCostSchema,
  EventSchema,
  IndexedEventSchema,
  PushedEventSchema,
} from './gen/earshot/events/v1/event_pb.js';

/**
 * Returns the type of a field in the encoded message. Messages and bytes are encoded in the same way, so both are
 * `bytes`.
 */
function wireTypeOf(field: DescField): string {
  if (field.fieldKind === 'message') return 'bytes';
  if (field.fieldKind === 'scalar') return field.scalar === 12 ? 'bytes' : `scalar ${field.scalar}`;
  return field.fieldKind === 'list' ? `list of ${field.listKind}` : field.fieldKind;
}

const fieldsOf = (schema: DescMessage) =>
  schema.fields.map((field) => `${field.number} ${field.name}: ${wireTypeOf(field)}`);

it.each(
  [EventCostSchema, PushedEventSchema, IndexedEventSchema].map((schema) => [schema.name, schema] as const),
)('the fields of %s have the numbers, names and types of the same fields of Event', (_, schema) => {
  expect(fieldsOf(EventSchema)).toEqual(expect.arrayContaining(fieldsOf(schema)));
});
