import type { JsonObject } from '@bufbuild/protobuf';
import { SPEC_NOW, fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import { createYoutubeConnector } from './index.js';
import { problem, thread, videoId } from './testing/fixtures.js';

const connector = createYoutubeConnector({ key: 's3cret-key' });

function lookUp(answer: FakeAnswer, question: JsonObject = { videoId: videoId(1) }) {
  const upstream = fakeUpstream('youtube', () => answer);
  const context = { http: upstream.http, now: SPEC_NOW, session: new Map() };
  return { reading: connector.lookups?.['videoComments']?.(question, context), upstream };
}

describe('the comments of a video', () => {
  it('are returned newest first, without replies, one page at a time', async () => {
    const items = [thread(1, SPEC_NOW, {}, 3), thread(2, SPEC_NOW)];
    const { reading, upstream } = lookUp(
      { body: { items, nextPageToken: 'p3' } },
      { videoId: videoId(1), cursor: 'p2' },
    );
    expect(await reading).toEqual({
      kind: 'found',
      found: 2,
      body: {
        comments: [
          {
            id: 'Ug1',
            videoId: videoId(1),
            text: 'Nice <3',
            authorDisplayName: '@grace-h',
            authorChannelId: 'UCgrace00000000000000000',
            publishedAt: '2026-03-04T12:00:00.000Z',
            likeCount: 7,
            replyCount: 3,
            isHeartedByCreator: null,
          },
          expect.objectContaining({ id: 'Ug2', replyCount: 0 }),
        ],
        nextCursor: 'p3',
      },
    });
    expect(`${upstream.requests[0]?.at.pathname}`).toBe('/youtube/v3/commentThreads');
    expect(Object.fromEntries(upstream.requests[0]?.at.searchParams ?? [])).toEqual({
      part: 'snippet',
      videoId: videoId(1),
      textFormat: 'plainText',
      order: 'time',
      maxResults: '100',
      pageToken: 'p2',
      key: 's3cret-key',
    });
  });

  it('are an empty list if there are none, and the last page has no cursor', async () => {
    expect(await lookUp({ body: { items: [] } }).reading).toEqual({
      kind: 'found',
      found: 0,
      body: { comments: [] },
    });
  });

  it('can have only a displayed text, and have no channel if the account of the author is deleted', async () => {
    const items = [thread(1, SPEC_NOW, { textOriginal: undefined, authorChannelId: undefined })];
    expect(await lookUp({ body: { items } }).reading).toMatchObject({
      body: { comments: [{ text: 'Nice <3', authorChannelId: null }] },
    });
  });

  it.each([
    [404, 'videoNotFound', `There is no video "${videoId(1)}" on youtube`],
    [403, 'commentsDisabled', 'Comments are turned off for this video'],
    [403, 'forbidden', 'The comments of this video are not public'],
  ])('are refused if YouTube answers %i %s', async (status, reason, message) => {
    const { reading } = lookUp({ status, body: problem(status, reason) });
    expect(await reading).toEqual({ kind: 'refused', code: 'NOT_FOUND', message });
  });

  it('are refused for a cursor that YouTube no longer knows', async () => {
    const answer = { status: 400, body: problem(400, 'invalidPageToken') };
    expect(await lookUp(answer, { videoId: videoId(1), cursor: 'old' }).reading).toEqual({
      kind: 'refused',
      code: 'NOT_FOUND',
      message: 'YouTube no longer accepts this cursor; begin again without a cursor',
    });
    await expect(lookUp(answer).reading).rejects.toMatchObject({ kind: 'unexpected_status' });
  });

  it('cannot be read if the units of the day are used up', async () => {
    const { reading, upstream } = lookUp({ status: 403, body: problem(403, 'quotaExceeded') });
    await expect(reading).rejects.toMatchObject({
      kind: 'quota_spent',
      message:
        "youtube answered 403: the day's units of the key are used up; new ones are allowed from midnight in California",
    });
    expect(upstream.heldOff).toMatchObject([{ quota: 'units', waitMs: 20 * 3_600_000 }]);
  });

  it('cause a fault if YouTube answers with another error', async () => {
    await expect(lookUp({ status: 500 }).reading).rejects.toMatchObject({ kind: 'server_error' });
    await expect(
      lookUp({ status: 403, body: problem(403, 'SERVICE_UNAVAILABLE') }).reading,
    ).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it.each([
    [{}],
    [{ items: {} }],
    [{ items: [{ id: 'Ug1' }] }],
    [{ items: [thread(1, SPEC_NOW, { textOriginal: 7 })] }],
  ])('cause a fault if the response has an unknown structure: %j', async (body) => {
    await expect(lookUp({ body }).reading).rejects.toMatchObject({ kind: 'unknown_shape' });
  });
});
