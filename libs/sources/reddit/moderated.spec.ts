import { describe, expect, it } from 'vitest';
import { SPEC_NOW, fakeUpstream } from '../fake-upstream.js';
import { moderatedSubreddits } from './index.js';
import { serveSignIn } from './invented.js';

const settings = { clientId: 'app', clientSecret: 's3cret' };

function lookup(body: object, status = 200) {
  const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { status, body });
  const reading = moderatedSubreddits(
    'Ada Byron',
    { http: upstream.http, now: SPEC_NOW, session: new Map() },
    settings,
  );
  return { reading, upstream };
}

describe('the subreddits that a user moderates', () => {
  it('are read from the list', async () => {
    const row = { sr: 'lamps', name: 't5_1', title: 'All about lamps', subscribers: 12, over_18: false };
    const { reading, upstream } = lookup({ kind: 'ModeratedList', data: [row] });
    expect(await reading).toEqual([
      { name: 'lamps', title: 'All about lamps', subscribers: 12, isNsfw: false },
    ]);
    expect(upstream.requests[1]?.at.pathname).toBe('/user/Ada%20Byron/moderated_subreddits');
  });

  it('are none where the answer is an empty object', async () => {
    expect(await lookup({}).reading).toEqual([]);
  });

  it.each([[{ data: [] }], [{ kind: 'ModeratedList' }], [{ kind: 'ModeratedList', data: [{ title: 'x' }] }]])(
    'are a fault where the shape is unknown: %j',
    async (body) => {
      await expect(lookup(body).reading).rejects.toMatchObject({ kind: 'unknown_shape' });
    },
  );

  it('of nobody are not found', async () => {
    await expect(lookup({ message: 'Not Found', error: 404 }, 404).reading).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});
