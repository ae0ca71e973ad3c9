import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  simulatedSources,
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../apps/simulator/index.js';
import { checkDescribed } from './interface/described.js';
import { ApiClient, isolateStores, openAccount, programEnv, until, type IsolatedStores } from '#testing';

/** The environment of an installation under test: stores, upstreams and a receiver. */
export interface Stage {
  stores: IsolatedStores;
  simulator: Simulator;
  /** The environment variables of the programs, including stores and upstreams. */
  env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** An account, with a receiver that knows its secret. */
export interface Customer {
  api: ApiClient;
  accountId: string;
  signingSecret: string;
}

/**
 * Prepares separate stores, and a simulator. Without `world`, the simulator has only the posts that the test publishes.
 */
export async function setStage(
  more: NodeJS.ProcessEnv = {},
  world: Pick<SimulatorOptions, 'clock' | 'ratePerSecond' | 'historyPosts'> = {},
): Promise<Stage> {
  const [stores, simulator] = await Promise.all([
    isolateStores(),
    startSimulator({ seed: 11, limits: { reddit: 1_000_000, bluesky: 1_000_000 }, ...world }),
  ]);
  const dataDir = mkdtempSync(join(tmpdir(), 'earshot-stage-'));
  const env = programEnv(stores, {
    DATA_DIR: dataDir,
    ...simulatedSources(simulator.url),
    // Short intervals, so that the tests do not wait.
    INTERVAL_FLOOR_SECONDS: '1',
    ...more,
  });
  return {
    stores,
    simulator,
    env,
    async close() {
      await simulator.stop();
      await stores.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens an account and gives its secret to the receiver. */
export async function openCustomer(stage: Stage, gatewayUrl: string, plan?: string): Promise<Customer> {
  const { accountId, apiKey, signingSecret } = await openAccount(stage.stores.natsUrl, plan);
  stage.simulator.receiver.addSecret('*', signingSecret);
  return { api: new ApiClient(gatewayUrl, apiKey, checkDescribed), accountId, signingSecret };
}

/** Creates a keyword and waits until each of its watches has had its first check. */
export async function watchKeyword(
  api: ApiClient,
  body: object,
): Promise<{ id: string; watches: { id: string; source: string }[] }> {
  const made = await api.post('/v1/keywords', body);
  if (made.status !== 201) throw new Error(`the keyword was refused: ${made.text}`);
  return until(
    'every watch has had its first check',
    async () => {
      const { body: keyword } = await api.get(`/v1/keywords/${made.body.id}`);
      if (keyword.watches.every((watch: { lastStatus: string | null }) => watch.lastStatus === 'completed'))
        return keyword;
      const { state, watches } = keyword;
      const checks = watches.map(({ source, lastStatus, lastError }: Record<string, unknown>) => ({
        source,
        lastStatus,
        lastError,
      }));
      throw new Error(JSON.stringify({ state, checks }));
    },
    60_000,
  );
}
