import { fromBinary, toJson, type DescMessage, type JsonValue } from '@bufbuild/protobuf';
import { readdirSync, readFileSync } from 'node:fs';
import { checkout } from '#testing';
import { AccountDecisionSchema } from './gen/earshot/accounts/v1/account_pb.js';
import { AlertDecisionSchema, AlertEventSchema } from './gen/earshot/alerts/v1/alert_pb.js';
import { AttemptSchema } from './gen/earshot/attempts/v1/attempt_pb.js';
import { ChannelDecisionSchema, ChannelEventSchema } from './gen/earshot/channels/v1/channel_pb.js';
import { CheckSchema } from './gen/earshot/checks/v1/check_pb.js';
import { CreditDecisionSchema, CreditMovementSchema } from './gen/earshot/credits/v1/credit_pb.js';
import { DigestAssembledSchema } from './gen/earshot/digests/v1/digest_pb.js';
import { EventSchema } from './gen/earshot/events/v1/event_pb.js';
import { AccountEventSchema } from './gen/earshot/accounts/v1/account_pb.js';
import { ExploreDecisionSchema, ExploreEventSchema } from './gen/earshot/explores/v1/explore_pb.js';
import { KeywordDecisionSchema, KeywordEventSchema } from './gen/earshot/keywords/v1/keyword_pb.js';
import { LabelDecisionSchema, LabelEventSchema } from './gen/earshot/labels/v1/label_pb.js';
import { LookupSchema } from './gen/earshot/lookups/v1/lookup_pb.js';
import { PurgeSchema } from './gen/earshot/purges/v1/purge_pb.js';
import { ReadingFactSchema } from './gen/earshot/readings/v1/reading_pb.js';
import { ReplayDecisionSchema, ReplayEventSchema } from './gen/earshot/replays/v1/replay_pb.js';

/**
 * A stored message of an earlier version, and its content. Never change a fixture, because streams keep messages for
 * months, some without limit.
 */
interface Fixture {
  message: string;
  base64: string;
  says: JsonValue;
}

const SCHEMAS = new Map<string, DescMessage>(
  [
    AccountDecisionSchema,
    AlertDecisionSchema,
    AttemptSchema,
    ChannelDecisionSchema,
    CheckSchema,
    CreditDecisionSchema,
    DigestAssembledSchema,
    EventSchema,
    ExploreDecisionSchema,
    KeywordDecisionSchema,
    LabelDecisionSchema,
    LookupSchema,
    PurgeSchema,
    ReadingFactSchema,
    ReplayDecisionSchema,
  ].map((schema) => [schema.typeName, schema]),
);

const directory = new URL('libs/contracts/fixtures/', checkout);
const fixtures = readdirSync(directory)
  .sort()
  .map((file): [string, Fixture] => [
    file,
    JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as Fixture,
  ]);

/**
 * Returns the names of the fields in the first `oneof` of the schema: the kinds of event, or the causes of a movement.
 */
function kindsOf(schema: DescMessage): string[] {
  return (schema.oneofs[0]?.fields ?? []).map((field) => field.localName);
}

describe('messages that earlier versions stored', () => {
  it.each(fixtures)('are read with their original content: %s', (_, { message, base64, says }) => {
    const schema = SCHEMAS.get(message);
    if (!schema)
      throw new Error(
        `${message} is no longer stored, but its fixture must remain while its stream keeps such messages`,
      );
    expect(toJson(schema, fromBinary(schema, Buffer.from(base64, 'base64')))).toEqual(says);
  });

  it('include a fixture of each type of stored message', () => {
    expect([...new Set(fixtures.map(([, { message }]) => message))].sort()).toEqual(
      [...SCHEMAS.keys()].sort(),
    );
  });

  it.each([
    ['keyword', KeywordDecisionSchema, KeywordEventSchema],
    ['account', AccountDecisionSchema, AccountEventSchema],
    ['replay', ReplayDecisionSchema, ReplayEventSchema],
    ['channel', ChannelDecisionSchema, ChannelEventSchema],
    ['explore', ExploreDecisionSchema, ExploreEventSchema],
    ['alert', AlertDecisionSchema, AlertEventSchema],
    ['label', LabelDecisionSchema, LabelEventSchema],
  ])('include a fixture of each event of a %s decision', (_, decision, event) => {
    const stored = fixtures
      .filter(([, { message }]) => message === decision.typeName)
      .flatMap(([, { says }]) =>
        (says as { events: Record<string, unknown>[] }).events.flatMap((one) => Object.keys(one)),
      );
    expect([...new Set(stored)].sort()).toEqual(kindsOf(event).sort());
  });

  it('include a fixture of each cause of a movement of credits', () => {
    const stored = fixtures
      .filter(([, { message }]) => message === CreditDecisionSchema.typeName)
      .flatMap(([, { says }]) =>
        (says as { movements: Record<string, unknown>[] }).movements.flatMap((one) => Object.keys(one)),
      );
    const causes = kindsOf(CreditMovementSchema);
    expect([...new Set(stored)].filter((key) => causes.includes(key)).sort()).toEqual(causes.sort());
  });
});
