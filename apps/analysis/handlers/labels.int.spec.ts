import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { insertRows, selectRows, type MentionRow } from '#clickhouse';
import { ChangeMentionSchema } from '#contracts';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { rebuildProjection, type RebuildableProjection } from '#projections';
import { labelsOf, labelsProjection } from '../projections/labels.projection.js';
import { mentionRow } from '../readmodels/mentions.sink.js';
import { DigestsUnderTest } from '../testing/digests-under-test.js';
import { LabelsHandler } from './labels.handler.js';

let fixture: DigestsUnderTest;

beforeAll(async () => {
  fixture = await DigestsUnderTest.open();
});
afterAll(() => fixture?.close());

/** A mention with a decision that LABELS no longer contains: LABELS keeps a decision for 90 days. */
async function mentionWithOldDecision() {
  const scene = await fixture.scene('hourly');
  const { accountId, keywordId } = scene;
  const event = scene.event('hello', { checkId: newId() });
  const mentionId = event.eventId;
  await insertRows<MentionRow>(fixture.clickhouse, 'mentions', mentionRow(event));
  const handler = new LabelsHandler(fixture.database, fixture.clickhouse, fixture.store);
  const change = (values: MessageInitShape<typeof ChangeMentionSchema>) =>
    handler.change(create(ChangeMentionSchema, { accountId, mentionId, commandId: newId(), ...values }));
  const subject = subjectOf('LABELS', accountId, keywordId, mentionId);
  await change({ sentiment: 'negative', labels: { labels: ['starred'] } });
  await fixture.store.erase('LABELS', subject);
  return { change, mentionId, subject };
}

it('a correction that LABELS no longer contains can be taken back; the labels stay', async () => {
  const { change, mentionId } = await mentionWithOldDecision();
  await change({ sentiment: '' });
  const [{ labels, corrections } = {}] = await labelsOf(fixture.database.manager, [mentionId]);
  expect([labels, corrections]).toEqual([['starred'], {}]);
  expect(
    await selectRows(
      fixture.clickhouse,
      'SELECT labels, corrected_sentiment FROM mentions FINAL WHERE event_id = {mentionId: UUID}',
      { mentionId },
    ),
  ).toEqual([{ labels: ['starred'], corrected_sentiment: '' }]);
});

it('a repeated command stores nothing, even if LABELS no longer contains its decision', async () => {
  const { change, subject } = await mentionWithOldDecision();
  await change({ sentiment: 'negative', labels: { labels: ['starred'] } });
  expect(await fixture.store.read('LABELS', subject)).toHaveLength(0);
});

it('a rebuild keeps labels that LABELS no longer contains, if LABELS contains a later correction', async () => {
  const { change, mentionId } = await mentionWithOldDecision();
  await change({ intent: 'praise' });
  await rebuildProjection(fixture.database, fixture.bus, labelsProjection as RebuildableProjection);
  const [{ labels, corrections } = {}] = await labelsOf(fixture.database.manager, [mentionId]);
  expect([labels, corrections]).toEqual([['starred'], { sentiment: 'negative', intent: 'praise' }]);
});
