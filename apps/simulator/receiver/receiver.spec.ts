import { createHmac } from 'node:crypto';
import { SimulatorClient } from '../testing/simulator-client.js';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSBzcGVj';
const BODY = JSON.stringify({
  id: 'e1',
  type: 'hn_item.created',
  item: { title: '', text: 'Größe "zählt"' },
});
let client: SimulatorClient;
let lines: string[];

beforeEach(async () => {
  lines = [];
  client = await SimulatorClient.start({ secret: SECRET, log: (line) => lines.push(line) });
});
afterEach(() => client.stop());

function unixNow(): number {
  return Math.floor(client.clock.now().getTime() / 1000);
}

function timed(secret: string, at: number, body = BODY): string {
  return createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
}

function headersFor(secret = SECRET, at = unixNow(), id = 'msg_1'): Record<string, string> {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${at}.${BODY}`).digest('base64');
  return {
    'content-type': 'application/json',
    'x-signature': `t=${at},v1=${timed(secret, at)}`,
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${standard}`,
  };
}

const deliver = (hook: string, headers = headersFor()) =>
  client.send('POST', `/hooks/${hook}`, BODY, headers);
const last = (hook: string) => client.simulator.receiver.deliveries(hook).at(-1)!;

describe('the webhook receiver', () => {
  it('verifies `X-Signature` and `webhook-signature` of a delivery, and logs one line about it', async () => {
    expect((await deliver('demo')).status).toBe(200);
    expect(last('demo')).toMatchObject({
      ...{
        id: 'msg_1',
        attempt: 1,
        type: 'hn_item.created',
        eventId: 'e1',
        verified: true,
        status: 200,
        body: BODY,
      },
      verdict: { signature: true, standard: true, legacy: false, faults: [] },
    });
    expect(lines).toEqual(['✓ verified hn_item.created "Größe "zählt"" → /hooks/demo']);
  });

  it('verifies a delivery if one of several v1 values is correct for the secret of the hook', async () => {
    const at = unixNow();
    const both = `t=${at},v1=${timed('old', at)},v1=${timed('new', at)}`;
    await client.post('/hooks/_secrets', { name: 'mine', secret: 'new' });
    await deliver('mine', { 'x-signature': both });
    expect(last('mine').verified).toBe(true);
    await deliver('yours', { 'x-signature': both });
    expect(last('yours').verified).toBe(false);
  });

  it('verifies the legacy signature, which is the plain hex HMAC of the body', async () => {
    await deliver('plain', { 'x-signature': createHmac('sha256', SECRET).update(BODY).digest('hex') });
    expect(last('plain')).toMatchObject({ verified: true, verdict: { legacy: true, signature: false } });
  });

  it('marks a delivery as not verified if its bytes, its time, its secret or its headers are wrong', async () => {
    const bad: [string, Record<string, string>, string][] = [
      ['no-header', {}, 'no X-Signature'],
      [
        'old',
        headersFor(SECRET, unixNow() - 301),
        'X-Signature has a time that is more than five minutes before or after the present time',
      ],
      ['wrong', headersFor('whsec_b3RoZXI='), 'X-Signature does not match'],
      ['half', { ...headersFor(), 'webhook-id': 'msg_2' }, 'webhook-signature does not match'],
      ['odd', { 'x-signature': 'v1=abc' }, 'X-Signature has no t or no v1'],
    ];
    for (const [hook, headers, fault] of bad) {
      await deliver(hook, headers);
      expect(last(hook).verified).toBe(false);
      expect(last(hook).verdict.faults).toContain(fault);
    }
    await client.send('POST', '/hooks/changed', `${BODY} `, headersFor());
    expect(last('changed').verified).toBe(false);
    await deliver('edge', headersFor(SECRET, unixNow() - 300));
    expect(last('edge').verified).toBe(true);
    expect(lines.filter((line) => line.startsWith('✓'))).toEqual([
      '✓ verified hn_item.created "Größe "zählt"" → /hooks/edge',
    ]);
    for (const [hook, , fault] of bad)
      expect(lines.find((line) => line.endsWith(`→ /hooks/${hook}`))).toMatch(
        new RegExp(`^✗ not verified \\(.*${fault.replace(/[()]/g, '\\$&')}.*\\) hn_item.created `),
      );
  });

  it('counts deliveries, distinct ids and repeated deliveries', async () => {
    for (const id of ['a', 'b', 'a']) await deliver('demo', headersFor(SECRET, unixNow(), id));
    const answer = await client.ask('/hooks/demo/deliveries');
    expect(answer.json()).toMatchObject({ count: 3, verified: 3, accepted: 3, distinct: 2, repeated: 1 });
    await client.send('DELETE', '/hooks/demo/deliveries');
    expect((await client.ask('/hooks/demo/deliveries')).json()).toMatchObject({ count: 0, deliveries: [] });
  });
});

describe('a hook of the webhook receiver', () => {
  it('answers with the status, redirect or failures that its name states, for example `status-503`', async () => {
    expect((await deliver('status-503')).status).toBe(503);
    expect((await deliver('status-410-a')).status).toBe(410);
    expect(await deliver('redirect')).toMatchObject({
      status: 302,
      headers: { location: '/hooks/redirected' },
    });
    const flaky = [];
    for (let i = 0; i < 3; i++) flaky.push((await deliver('flaky-2')).status);
    expect(flaky).toEqual([500, 500, 200]);
    expect((await deliver('flaky-2', headersFor(SECRET, unixNow(), 'other'))).status).toBe(500);
    expect(client.simulator.receiver.countsOf('flaky-2')).toMatchObject({ count: 4, accepted: 1 });
  });

  it('closes the connection (`close`), sends the given number of bytes (`huge`), or answers 200 (`slow`)', async () => {
    await expect(deliver('close')).rejects.toThrow();
    expect((await deliver('huge-300000')).text.length).toBe(300_000);
    expect((await deliver('slow-5')).status).toBe(200);
  });

  it('sends no answer (`hang`), or one byte after another (`drip`), until the simulator stops', async () => {
    const open = [deliver('hang'), deliver('drip-1')];
    const ended = Promise.all(open.map((each) => expect(each).rejects.toThrow()));
    await client.simulator.stop();
    await ended;
  });

  it('can be configured to answer differently', async () => {
    await client.post('/hooks/_behaviours', {
      name: 'demo',
      behaviour: { kind: 'status', status: 429, retryAfterSeconds: 3 },
    });
    expect(await deliver('demo')).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
    await client.post('/hooks/_behaviours', { name: 'demo', behaviour: { kind: 'ok' } });
    expect((await deliver('demo')).status).toBe(200);
  });

  it('receives five hundred deliveries at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, i) => deliver('busy', headersFor(SECRET, unixNow(), `msg_${i}`))),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(client.simulator.receiver.countsOf('busy')).toMatchObject({
      count: 500,
      verified: 500,
      distinct: 500,
    });
  });
});
