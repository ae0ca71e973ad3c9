import { create } from '@bufbuild/protobuf';
import { AlertDecisionSchema, DigestAssembledSchema, KeywordDecisionSchema, type Event } from '#contracts';
import { newId } from '#kernel';
import type { Json } from '#testing';
import {
  alertEventsOf,
  channelDisabledEventOf,
  keywordEventsOf,
  reportReadyEventsOf,
} from '../../apps/analysis/domain/keyword-event-of.js';
import { startDeliveries, type DeliveriesUnderTest } from './deliveries-under-test.js';

/** Returns the time two hours ago. */
export const since = () => new Date(Date.now() - 2 * 3_600_000).toISOString();

/** The interface, delivery and a receiver: what the tests of replays share. */
export class ReplaysScene {
  setup!: DeliveriesUnderTest;

  async start(): Promise<void> {
    this.setup = await startDeliveries();
  }

  async stop(): Promise<void> {
    await this.setup?.stop();
  }

  /** Deletes the requests that the receiver got, and resets its responses. */
  clear(): void {
    this.setup.receiver.received.length = 0;
    this.setup.receiver.answers.clear();
  }

  /** Requests a replay of the last two hours. */
  readonly replay = async (body: Record<string, unknown>): Promise<Json> => {
    const answer = await this.setup.ada.api.post('/v1/replays', { since: since(), ...body });
    expect([answer.text, answer.status]).toEqual([answer.text, 202]);
    return answer.body;
  };

  /** Returns the requests on the path that belong to the replay. */
  readonly requestsOf = (path: string, replayId: string) =>
    this.setup.receiver.received.filter((one) => one.path === path && one.headers['x-replay'] === replayId);

  readonly idsOn = (path: string, replayId: string) =>
    this.requestsOf(path, replayId).map(({ headers }) => headers['webhook-id']);

  readonly url = (path: string) => `${this.setup.receiver.url}${path}`;

  /** Returns the number of deliveries of the replay that wait for another attempt. */
  readonly waiting = async (replayId: string): Promise<number> => {
    const rows: { count: number }[] = await this.setup.database.query(
      'SELECT count(*)::int AS count FROM pending_deliveries WHERE target_id = $1',
      [replayId],
    );
    return rows[0]?.count ?? 0;
  };
}

/** Returns one event of each kind about the keyword itself, as analysis makes it. */
export function ofEachKind(accountId: string, keywordId: string): Event[] {
  const at = new Date(Date.now() - 60_000).toISOString();
  const reason = { reason: 'user', creditsRemaining: 7 };
  return [
    ...keywordEventsOf(
      create(KeywordDecisionSchema, {
        ...{ commandId: newId(), accountId, subjectId: keywordId, decidedAt: at },
        events: [
          { event: { case: 'keywordPaused', value: { ...reason, stopped: true } } },
          { event: { case: 'keywordResumed', value: { ...reason, running: true } } },
        ],
      }),
    ),
    ...alertEventsOf(
      create(AlertDecisionSchema, {
        ...{ accountId, keywordId, decidedAt: at },
        events: [
          {
            event: {
              case: 'fired',
              value: {
                ...{ alertId: newId(), kind: 'spike', level: 'low', observed: 9 },
                ...{ windowFrom: at, windowTo: at, suppressedUntil: at },
              },
            },
          },
        ],
      }),
    ),
    ...reportReadyEventsOf(
      create(DigestAssembledSchema, {
        ...{ accountId, keywordId, digestId: newId(), assembledAt: at, periodFrom: at, periodTo: at },
        reportUrl: 'https://a.example/reports/x',
      }),
    ),
    channelDisabledEventOf(newId(), { accountId, keywordId }, at, {
      ...{ channelId: newId(), kind: 'slack', reason: 'gone', failures: 1, lastStatusCode: 404 },
    }),
  ];
}
