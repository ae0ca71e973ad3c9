import { create, type JsonObject } from '@bufbuild/protobuf';
import { CriteriaSchema, type SourceId } from '#contracts';
import { createOutboundHttp, type OutboundHttp } from '#http-out';
import { newId } from '#kernel';
import { createSources } from '#sources';
import { failedCheck } from '../apps/polling/record/build-checks.js';
import type { DueSearch, DueWatch } from '../apps/polling/due/due-work.js';
import { planReads, type Answer } from '../apps/polling/read/read-upstream.js';
import { waitAfter } from '../apps/polling/domain/backoff.js';
import { NOTHING_LEARNED } from '../apps/polling/lanes/lane-memory.js';
import { Lane } from '../apps/polling/lanes/lane.js';
import { SIMULATED_SOURCES, simulatedSources, type FaultKind } from '../apps/simulator/index.js';
import { searchOf } from '../apps/simulator/searches.js';
import { SimulatorClient } from '../apps/simulator/testing/simulator-client.js';

// Tests each fault of an upstream on each source, with the real connector, the real lane and the simulator.

let client: SimulatorClient;
let httpWithDeadline: OutboundHttp;
const outbound = createOutboundHttp({ allow: ['127.0.0.0/8'], userAgent: 'Earshot/spec' });
const sources = createSources(simulatedSources('http://127.0.0.1'));

beforeAll(async () => {
  client = await SimulatorClient.start({ historyPosts: 30 });
  httpWithDeadline = {
    request: (request) => outbound.request({ ...request, deadlineMs: Math.min(request.deadlineMs, 1_500) }),
    close: () => outbound.close(),
  };
});
afterAll(async () => {
  await outbound.close();
  await client.stop();
});
afterEach(() => client.simulator.faults.clear());

function laneOf(source: SourceId): Lane {
  const connector = sources.get(source)?.connector;
  if (!connector) throw new Error(`${source} has no connector`);
  return new Lane({
    name: `${source}:0`,
    // A source with a small budget would wait in real time.
    connector: { ...connector, budget: { ...connector.budget, requestsPerMinute: 600_000 } },
    baseUrl: client.simulator.url,
    http: httpWithDeadline,
    lanes: 1,
    memory: NOTHING_LEARNED,
    remember: async () => {},
    clock: client.clock,
  });
}

/** Returns a search whose watch was last checked an hour ago. */
function dueOn(source: SourceId): DueSearch & { watches: [DueWatch] } {
  const { market = 'global', filters = {} } = searchOf(source, client.simulator.url);
  const query = source === 'ai_answers' ? {} : { query: 'zephyr kettle' };
  const at = client.clock.now().getTime();
  const searchKey = `${source}:spec`;
  const watch: DueWatch = {
    watchId: newId(),
    searchKey,
    accountId: newId(),
    keywordId: '',
    searchId: '',
    intervalSeconds: 600,
    backfill: false,
    baselineAt: at - 3_600_000,
    coveredUntil: at - 3_600_000,
    tick: at,
    checkSeq: 1,
  };
  return {
    searchKey,
    claim: '',
    source,
    criteria: create(CriteriaSchema, { market, ...query, filters: filters as JsonObject }),
    match: 'word',
    state: {},
    stateAt: undefined,
    failures: 0,
    minIntervalSeconds: 600,
    watches: [watch],
  };
}

async function readOn(lane: Lane): Promise<Answer | undefined> {
  const search = dueOn(lane.source);
  const [read] = planReads(lane, [search], client.clock, async () => () => false);
  const [answered] = (await read?.run(read.searches)) ?? [];
  return answered?.answers.get(search.searchKey);
}

const requestsTo = (source: SourceId) =>
  client.simulator.requests.report(source).requests.filter(({ signIn }) => !signIn).length;

interface FaultCase {
  kind: FaultKind;
  /** Matches the possible kinds of the failure. Some upstreams report more than a status. */
  failure: RegExp;
}

const FAULT_CASES: FaultCase[] = [
  { kind: '401', failure: /^unauthorized$/ },
  { kind: '403', failure: /^(forbidden|rate_limited|unauthorized|quota_spent)$/ },
  { kind: '404', failure: /^(not_found|unexpected_status)$/ },
  { kind: '429', failure: /^(rate_limited|quota_spent)$/ },
  { kind: '500', failure: /^server_error$/ },
  { kind: '503', failure: /^server_error$/ },
  { kind: 'hang', failure: /^timeout$/ },
  { kind: 'html', failure: /^(not_parsable|unknown_shape)$/ },
  { kind: 'truncated', failure: /^(truncated|network|not_parsable)$/ },
  { kind: 'shape', failure: /^(unknown_shape|not_parsable)$/ },
  { kind: 'empty', failure: /^not_parsable$/ },
];

describe.each(SIMULATED_SOURCES)('the source %s', (source) => {
  it.each(FAULT_CASES)(
    'makes a check fail with the reason, free of charge, after the fault $kind',
    async ({ kind, failure }) => {
      client.simulator.faults.add({
        source,
        kind,
        times: 0,
        retryAfterSeconds: kind === '429' ? 300 : undefined,
      });
      const lane = laneOf(source);
      const answer = await readOn(lane);
      lane.stop();
      if (answer?.kind !== 'failed') throw new Error(`it did not fail: ${JSON.stringify(answer)}`);
      const search = dueOn(source);
      const check = failedCheck(search, search.watches[0], answer.error, undefined, client.clock.now());
      expect(check.failure?.kind).toMatch(failure);
      expect(check.failure?.reason).toMatch(new RegExp(`${source}|feed`));
      expect(check.failure?.reason.length).toBeGreaterThan(20);
      expect(check.failure?.reason).not.toMatch(/sim-(?!ulat)|<html|\{"/);
      expect([check.costCredits, check.items.length, check.units]).toEqual([0, 0, 0]);
    },
  );

  it('gets the next request only after the time of Retry-After', async () => {
    const lane = laneOf(source);
    client.simulator.faults.add({ source, kind: '429', times: 1, retryAfterSeconds: 300 });
    const first = await readOn(lane);
    if (first?.kind !== 'failed') throw new Error('it did not fail');
    const { error } = first;
    expect(error.retryAfterMs).toBe(300_000);
    if (lane.connector.budget.backoff === 'search' || error.reach === 'search') {
      // Each search has its own upstream, so the lane does not wait: only the next tick of the search is
      // postponed.
      expect([lane.budget.blockedForMs, waitAfter(error.kind, 1, error.retryAfterMs, 0)]).toEqual([
        0, 300_000,
      ]);
      return;
    }
    const before = requestsTo(source);
    client.clock.pass(299);
    const meanwhile = await readOn(lane);
    expect(meanwhile?.kind === 'blocked' || meanwhile?.kind === 'failed').toBe(true);
    expect(requestsTo(source)).toBe(before);
    client.clock.pass(2);
    const then = await readOn(lane);
    lane.stop();
    expect(then?.kind).toBe('read');
    expect(requestsTo(source)).toBeGreaterThan(before);
  });
});
