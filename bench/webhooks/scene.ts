import { create, toBinary } from '@bufbuild/protobuf';
import { CheckSchema, EventSchema, MatchedItemSchema, type Check } from '#contracts';
import { isoOf, newId } from '#kernel';
import { subjectOf, type Bus } from '#messaging';
import type { Database } from '#postgres';
import { newSigningSecret, SecretBox } from '#secrets';
import { eventOf } from '../../apps/analysis/domain/event-of.js';

/** An account whose watches send their events to endpoints of one receiver. */
export interface Scene {
  accountId: string;
  secret: string;
  watches: { watchId: string; path: string }[];
}

/** One event as stored in EVENTS. */
export interface SceneEvent {
  id: string;
  subject: string;
  data: Uint8Array;
  /** The envelope, which is the body of the request. */
  body: string;
}

const PUBLISH_WINDOW = 500;

/** Writes the account and its watches into the tables that delivery reads. */
export async function makeScene(
  database: Database,
  masterKey: string,
  url: string,
  paths: readonly string[],
): Promise<Scene> {
  const accountId = newId();
  const secret = newSigningSecret();
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at) VALUES ($1, $2, 'unlimited', $3, now())`,
    [accountId, `${accountId}@example.org`, new SecretBox(masterKey).seal(secret)],
  );
  const watches = paths.map((path) => ({ watchId: newId(), path }));
  await database.query(
    `INSERT INTO watches (watch_id, account_id, source, criteria, criteria_hash, interval_seconds, webhook_url, webhook_mode,
       analysis, backfill, is_active, created_at, updated_at)
     SELECT watch_id, $1, 'hackernews', '{}', watch_id::text, 60, url, 'all', false, false, true, now(), now()
     FROM unnest($2::uuid[], $3::text[]) AS w (watch_id, url)`,
    [accountId, watches.map(({ watchId }) => watchId), watches.map(({ path }) => `${url}${path}`)],
  );
  return { accountId, secret, watches };
}

/** Returns new events, alternating between watches, in the form that analysis produces. */
export function makeEvents({ accountId, watches }: Scene, count: number): SceneEvent[] {
  const finishedAt = isoOf(Date.now());
  return Array.from({ length: count }, (_, n) => {
    const watchId = watches[n % watches.length]?.watchId ?? '';
    const check = create(CheckSchema, {
      checkId: newId(),
      accountId,
      watchId,
      source: 'hackernews',
      finishedAt,
    });
    const event = eventOf(check, itemOf(n, check), {
      dropped: undefined,
      vip: false,
      verdicts: [],
      matchMode: 'word',
    });
    return {
      id: event.eventId,
      subject: subjectOf('EVENTS', accountId, watchId),
      data: toBinary(EventSchema, event),
      body: new TextDecoder().decode(event.envelope),
    };
  });
}

/** Returns new checks, alternating between watches, in the form that polling produces. */
export function makeChecks({ accountId, watches }: Scene, count: number, items: number) {
  return Array.from({ length: count }, (_, n) => {
    const watchId = watches[n % watches.length]?.watchId ?? '';
    const identity = {
      checkId: newId(),
      accountId,
      watchId,
      source: 'hackernews',
      finishedAt: isoOf(Date.now()),
    };
    const check = create(CheckSchema, { ...identity, matchMode: 'word', part: 1, parts: 1 });
    check.items = Array.from({ length: items }, (__, item) => itemOf(item, { ...check, checkId: newId() }));
    return {
      id: check.checkId,
      subject: subjectOf('CHECKS', accountId, watchId),
      data: toBinary(CheckSchema, check),
    };
  });
}

/** Appends the events to EVENTS. */
export async function publish({ js }: Bus, events: readonly SceneEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += PUBLISH_WINDOW)
    await Promise.all(
      events
        .slice(at, at + PUBLISH_WINDOW)
        .map(({ id, subject, data }) => js.publish(subject, data, { msgID: id })),
    );
}

function itemOf(n: number, { checkId, finishedAt }: Check) {
  const url = `https://news.ycombinator.com/item?id=${checkId}`;
  const title = `Show HN: A desk lamp that knows when you look at it, number ${n}`;
  const text =
    'I have built a lamp for my desk. It dims when I turn to the window and comes back when I read. '.repeat(
      3,
    );
  const body = {
    id: checkId,
    source: 'hackernews',
    url,
    author: 'ada_byron',
    publishedAt: finishedAt,
    kind: 'story',
  };
  return create(MatchedItemSchema, {
    item: {
      itemId: `hn:${checkId}`,
      source: 'hackernews',
      eventType: 'hn_item.created',
      kind: 'story',
      url,
      title,
      text,
      author: 'ada_byron',
      publishedAt: finishedAt,
      bodyJson: JSON.stringify({
        ...body,
        hnUrl: url,
        title,
        text,
        points: 12,
        numComments: 3,
        storyId: checkId,
        parentId: null,
      }),
    },
    matches: [{ term: 'lamp', field: 'title', start: 16, end: 20 }],
  });
}
