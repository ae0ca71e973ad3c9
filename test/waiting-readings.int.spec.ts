import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { PurgeSchema, ReadingFactSchema } from '#contracts';
import { balanceOf, reserve } from '#credits';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { fundAccount, until } from '#testing';
import { EventRules } from '../apps/analysis/rules/event-rules.js';
import { Similarities } from '../apps/analysis/rules/similarities.js';
import { QuestionAnswers } from '../apps/analysis/waiting/question-answers.js';
import { renewClaims } from '../apps/analysis/waiting/waiting-questions.js';
import type { Fault } from '../apps/simulator/index.js';
import { STEP, WaitingStage } from './waiting-stage.js';
import { waitingRestartTasks } from './waiting-restart-tasks.js';
import { waitingTableTasks } from './waiting-table-tasks.js';

let stage: WaitingStage;

beforeAll(async () => {
  stage = await WaitingStage.create();
  // A request that hangs ends after this time. An event waits longer (20 s in most tests), so Earshot can repeat the
  // request.
  await stage.startAnalysis({ LLM_TIMEOUT_MS: '2000' });
}, 60_000);
afterAll(() => stage?.close());
afterEach(() => {
  stage.simulator.faults.clear();
  stage.simulator.requests.clear();
});

describe('an event that waits for the language model', () => {
  it('is published once, with sentiment, bucket and agent step, and these readings are charged [states.agent-step-late, readings.agent-charged]', async () => {
    const scene = stage.scene();
    const text =
      'sentiment=positive; sentimentScore=0.75; intent=praise; label=iPhone 15 pro; product=Acme 3; urgent=true';
    const wanted = { analysis: true, bucketPreset: 'product-model', ...STEP };
    const id = await scene.ask(text, wanted);
    expect(await scene.event()).toMatchObject({
      id,
      ai: {
        status: 'completed',
        output: { product: 'Acme 3', urgent: true },
        model: 'sim-chat-1',
        version: '1',
      },
      analysis: {
        sentiment: 'positive',
        sentimentScore: 0.75,
        reader: 'llm',
        model: 'sim-chat-1',
        version: '1',
      },
      bucket: 'iPhone 15 pro',
      charges: ['analysis 1', 'bucket 1', 'agent_step 2'],
    });
    await until('nothing waits', async () => (await stage.waiting(scene.watchId)) === 0);
    const facts = await stage.store.read(
      'READINGS',
      subjectOf('READINGS', scene.accountId, scene.watchId, id),
    );
    expect(facts.map(({ data }) => fromBinary(ReadingFactSchema, data).fact.case)).toEqual([
      'asked',
      'answered',
    ]);
  });

  it('shares a request with other events of its watch if it has no agent step', async () => {
    const scene = stage.scene();
    await stage.store.publishAll(
      Array.from({ length: 20 }, (_, n) =>
        scene.question(`sentiment=negative; number ${n}`, { analysis: true }),
      ),
    );
    const events = await until('all are published', async () => {
      const found = await scene.events();
      return found.length === 20 && found;
    });
    expect(new Set(events.map(({ analysis: read }) => `${read?.sentiment} ${read?.reader}`))).toEqual(
      new Set(['negative llm']),
    );
    expect(stage.requests).toBeLessThan(6);
  });

  it('gets the bucket of an earlier event if the model only spells the label differently', async () => {
    const labels = [];
    const keywordId = newId();
    // Earshot stores labels only for keywords that exist.
    await stage.database.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, 'Acme', 'active', '{}', now(), now(), 1)`,
      [keywordId, newId()],
    );
    for (const label of ['iPhone 15 pro', 'iphone15 Pro']) {
      const scene = stage.scene(newId(), newId(), keywordId);
      await scene.ask(`label=${label}`, {
        bucketPreset: 'custom',
        subject: { names: ['Acme'], about: 'models' },
      });
      labels.push((await scene.event()).bucket);
    }
    expect(labels).toEqual(['iPhone 15 pro', 'iPhone 15 pro']);
  });

  it('releases its reserved credits if it costs nothing in the end', async () => {
    const scene = stage.scene();
    const { accountId } = scene;
    await fundAccount(stage.database, accountId, 10);
    const question = scene.question('label=null', { bucketPreset: 'custom' });
    const reservation = { reservationId: question.eventId, holder: question.eventId };
    await reserve(stage.database, [{ ...reservation, accountId, credits: 1, lifetimeSeconds: 300 }]);
    await stage.store.publishAll([question]);
    expect(await scene.event()).toMatchObject({ bucket: undefined, charges: [] });
    await until(
      'nothing is reserved',
      async () => (await balanceOf(stage.database, accountId))?.reserved === 0,
    );
  });

  it('is answered once, even if another replica answers late or the question is stored twice [readings.agent-once]', async () => {
    const scene = stage.scene();
    // The model answers slowly, so that the second replica can load the question before it is answered.
    stage.addFault('slow', 1, { delayMs: 300 });
    const id = await scene.ask('product=Acme', STEP);
    const [row] = await until('the question is stored', async () => {
      const rows = await stage.database.query<{ seq: number }[]>(
        'SELECT seq FROM waiting_readings WHERE event_id = $1',
        [id],
      );
      return rows.length > 0 && rows;
    });
    const claimed = {
      ...{
        eventId: id,
        accountId: scene.accountId,
        watchId: scene.watchId,
        seq: row!.seq,
        claim: newId(),
        tries: 1,
      },
      ...{ deadlineAt: Date.now() + 10_000, wasUnderWay: false, cause: undefined },
    };
    const unread = { read: async () => [], close: async () => {} };
    const rules = new EventRules(new Similarities(unread));
    // The second replica has lost its claim, and answers later than the first.
    const late = new QuestionAnswers(stage.database, stage.store, rules);
    const open = await late.load([claimed]);
    const { event } = await scene.event();
    await renewClaims(stage.database, [claimed.claim]);
    await late.append(
      open.map((question) => ({ question, answers: { step: { kind: 'late', why: 'late' } } })),
    );
    expect((await scene.events()).map((one) => one.event)).toEqual([event]);
    const subject = subjectOf('READINGS', scene.accountId, scene.watchId, id);
    expect(await stage.store.read('READINGS', subject)).toHaveLength(2);
    // A check that was delivered twice repeats its question.
    const repeated = (await stage.store.read('READINGS', subject))[0]!.data;
    await stage.store.publish(subject, repeated, newId());
    const other = stage.scene();
    await other.ask('product=Acme', STEP);
    await other.event();
    expect([await stage.waiting(scene.watchId), await scene.events()]).toEqual([
      0,
      [expect.objectContaining({ id })],
    ]);
  });

  it('is not published if its keyword is purged while the model is being asked', async () => {
    const scene = stage.scene();
    stage.addFault('slow', 1, { delayMs: 500 });
    await scene.ask('product=Acme', STEP);
    await until('the model is asked', () => stage.requests > 0);
    const { accountId, keywordId, watchId } = scene;
    const purge = toBinary(PurgeSchema, create(PurgeSchema, { accountId, keywordId, watchIds: [watchId] }));
    await stage.store.publish(subjectOf('PURGES', accountId, keywordId), purge, newId());
    await until('nothing waits', async () => (await stage.waiting(watchId)) === 0);
    await until('the request has ended', () =>
      stage.simulator.requests.report('llm').requests.every(({ status }) => status),
    );
    const other = stage.scene();
    await other.ask('product=Acme', STEP);
    await other.event();
    expect(await scene.events()).toEqual([]);
    const positions: unknown[] = await stage.database.query(
      'SELECT 1 FROM projection_positions WHERE subject LIKE $1',
      [`%${watchId}%`],
    );
    expect(positions).toEqual([]);
  });
});

describe.each([
  [
    'sentiment',
    { analysis: true },
    'sentiment=negative',
    { analysis: { sentiment: 'negative', reader: 'llm' } },
    { analysis: { sentiment: 'mixed', reader: 'local' }, charges: ['analysis 1', 'bucket 1'] },
  ],
  [
    'a bucket',
    { bucketPreset: 'product-model' },
    'label=Acme 3',
    { bucket: 'Acme 3' },
    { bucket: undefined, charges: [] },
  ],
  [
    'an agent step',
    STEP,
    'product=Acme',
    { ai: { status: 'completed' } },
    { ai: { status: 'failed', output: null }, charges: ['bucket 1'] },
  ],
] as const)('when the model is asked for %s, a fault', (_, wanted, text, answered, unanswered) => {
  const eventAfter = async (...faults: [Fault['kind'], number][]) => {
    for (const [kind, times] of faults) stage.addFault(kind, times, { retryAfterSeconds: 0, delayMs: 300 });
    const scene = stage.scene();
    await scene.ask(text, wanted);
    return scene.event();
  };

  it.each(['invalid_json', 'schema_violation', 'cut_off'] as const)(
    'of the kind `%s` causes one further request, and a second fault is final [states.agent-step-late, readings.agent-valid]',
    async (kind) => {
      expect(await eventAfter([kind, 1])).toMatchObject(answered);
      expect(await eventAfter([kind, 2])).toMatchObject(unanswered);
    },
  );

  it.each(['declined', '403'] as const)('of the kind `%s` causes no further request', async (kind) => {
    expect(await eventAfter([kind, 1])).toMatchObject(unanswered);
    expect(stage.requests).toBe(1);
  });

  // Each row has at most four kinds: after five failures in a row, the model counts as down, which other tests cover.
  it.each([[['429', '500', 'truncated', 'slow']], [['503', 'html', 'empty', 'shape']], [['hang']]] as const)(
    'of each of the kinds %j only delays the answer',
    async (kinds) => {
      const events = await Promise.all(kinds.map((kind) => eventAfter([kind, 1])));
      for (const event of events) expect(event).toMatchObject(answered);
    },
  );
});

describe('the deadline [limits.agent-wait, states.agent-step-late]', () => {
  it('gives an agent step the status `timeout` during a request, and `failed` if there was no request [readings.agent-charged]', async () => {
    stage.addFault('hang', 1);
    const hanging = stage.scene();
    await hanging.ask('product=Acme; sentiment=positive', { analysis: false, ...STEP }, 1500);
    expect(await hanging.event()).toMatchObject({
      ai: { status: 'timeout', output: null },
      charges: ['bucket 1'],
    });
    // The lane is blocked in the table. If the server refused requests instead, a request could be under way at the
    // deadline, and the status would be `timeout`.
    await stage.database.query("UPDATE llm_lane SET blocked_until = now() + interval '2 seconds'");
    const refused = stage.scene();
    await refused.ask('product=Acme', STEP, 600);
    expect(await refused.event()).toMatchObject({ ai: { status: 'failed', output: null } });
    const later = stage.scene();
    await later.ask('product=Acme', STEP);
    expect(await later.event()).toMatchObject({ ai: { status: 'completed' } });
  });

  it('ends the wait of an event immediately if the server asks for a longer wait', async () => {
    stage.addFault('429', 1, { retryAfterSeconds: 60 });
    const begun = Date.now();
    for (const text of ['the first', 'the second']) {
      const scene = stage.scene();
      await scene.ask(text, { analysis: true, ...STEP });
      const { event, ...seen } = await scene.event();
      expect(seen).toMatchObject({ ai: { status: 'failed' }, analysis: { reader: 'local' } });
      expect(event.readings.find(({ kind }) => kind === 'analysis')?.detail).toBe(
        'a phrase; the language model could not be asked in time',
      );
    }
    expect(Date.now() - begun).toBeLessThan(10_000);
    await stage.stopAnalysis();
    await stage.startAnalysis({ LLM_TIMEOUT_MS: '2000' });
  });

  it('leaves the local sentiment and bucket, and the reason is stored with the sentiment', async () => {
    stage.addFault('hang', 0);
    const scene = stage.scene();
    await scene.ask('x', { analysis: true, bucketPreset: 'product-model' }, 1500);
    const { event, ...seen } = await scene.event();
    expect(seen).toMatchObject({ analysis: { sentiment: 'mixed', reader: 'local' }, bucket: 'By rule' });
    expect(event.readings.find(({ kind }) => kind === 'analysis')).toMatchObject({
      reader: 'local',
      detail: 'a phrase; the language model did not answer in time',
    });
  });
});

it('six events without an agent step are published as read locally, after fewer than 24 requests, while the model fails', async () => {
  stage.addFault('500', 0);
  const down = Array.from({ length: 6 }, () => stage.scene());
  await stage.store.publishAll(down.map((scene) => scene.question('x', { analysis: true })));
  for (const scene of down)
    expect(await scene.event()).toMatchObject({ analysis: { sentiment: 'mixed', reader: 'local' } });
  expect(stage.requests).toBeLessThan(24);
});

it('a model that was down is used again when it answers, even if no new event has an agent step', async () => {
  await stage.stopAnalysis();
  await stage.startAnalysis();
  stage.addFault('429', 5, { retryAfterSeconds: 0 });
  const scene = stage.scene();
  await scene.ask('sentiment=negative', { analysis: true });
  await scene.event();
  await until('an event is read by the model', async () => {
    const next = stage.scene();
    await next.ask('sentiment=negative', { analysis: true });
    const { analysis } = await next.event();
    return analysis?.sentiment === 'negative' && analysis.reader === 'llm';
  });
});

it('the model reads all new events after another replica has recorded that the model works again', async () => {
  stage.addFault('500', 0);
  // After five failures in a row, the model counts as down until its next success. It gets no request for five seconds.
  const down = Array.from({ length: 5 }, () => stage.scene());
  await stage.store.publishAll(down.map((scene) => scene.question('x', { analysis: true })));
  for (const scene of down) await scene.event();
  stage.simulator.faults.clear();
  await stage.database.query('UPDATE llm_lane SET failures = 0');
  const up = Array.from({ length: 6 }, () => stage.scene());
  await stage.store.publishAll(up.map((scene) => scene.question('sentiment=negative', { analysis: true })));
  for (const scene of up) expect(await scene.event()).toMatchObject({ analysis: { reader: 'llm' } });
});

waitingRestartTasks(() => stage);
waitingTableTasks(() => stage);
