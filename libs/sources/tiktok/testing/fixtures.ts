import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: fake responses in the current format of the Research API. The cursor of a page is an offset.

const FIRST_ID = 7_400_000_000_000_000_000n;

/**
 * Returns a video as JSON text, because its ids are numbers that JavaScript cannot represent. `more` replaces fields;
 * its values are also JSON.
 */
export function videoJson(n: number, at: Date, more: Record<string, string> = {}): string {
  const fields: Record<string, string> = {
    id: videoId(n),
    create_time: String(at.getTime() / 1000),
    username: '"ada.lamps"',
    video_description: JSON.stringify(`Lamp number ${n} #lamp `),
    region_code: '"DE"',
    hashtag_names: '["lamp","light"]',
    music_id: '7106506857899919361',
    voice_to_text: '"This is a lamp"',
    video_duration: '17',
    like_count: '3',
    comment_count: '2',
    share_count: '1',
    view_count: '3000000001',
    ...more,
  };
  return `{${Object.entries(fields)
    .map(([name, json]) => `"${name}":${json}`)
    .join(',')}}`;
}

/** Returns an answer with these videos. */
export function answerJson(videos: readonly string[], more: Record<string, string> = {}): string {
  const fields = {
    videos: `[${videos.join(',')}]`,
    cursor: String(videos.length),
    has_more: 'false',
    ...more,
  };
  const data = Object.entries(fields).map(([name, json]) => `"${name}":${json}`);
  return `{"data":{${data.join(',')}},"error":{"code":"ok","message":"","log_id":"2026"}}`;
}

/** Returns the body of an error response with this code. */
export function problem(code: string) {
  return { error: { code, message: 'It was refused, <b>why</b> is a secret', log_id: '2026' } };
}

/** Returns the id of invented video n. A higher n is an older video. */
export function videoId(n: number): string {
  return String(FIRST_ID - BigInt(n));
}

/** Returns the body of a request for videos. */
export function requestBodyOf(request: FakeRequest): Record<string, unknown> {
  return request.body === undefined ? {} : (JSON.parse(String(request.body)) as Record<string, unknown>);
}

/** Returns the response to a request for videos: the page of these videos that the request selects. */
export function serveVideos(posts: readonly FakePost[], request: FakeRequest): { body: string } {
  const { cursor, max_count, start_date } = requestBodyOf(request);
  const found = posts.filter(({ at }) => dayOf(at) >= String(start_date ?? ''));
  const start = Number(cursor ?? 0);
  const end = start + Number(max_count ?? 20);
  const page = found.slice(start, end).map(({ n, at }) => videoJson(n, at));
  const more = {
    cursor: String(end),
    has_more: String(end < found.length),
    search_id: '"7354367454467855403"',
  };
  return { body: answerJson(page, more) };
}

/** Returns the response to a token request; undefined for every other request. */
export function serveSignIn(request: FakeRequest): FakeAnswer | undefined {
  if (request.at.pathname !== '/v2/oauth/token/') return undefined;
  return { body: { access_token: 'clt.token-1', expires_in: 7_200, token_type: 'Bearer' } };
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10).replaceAll('-', '');
}
