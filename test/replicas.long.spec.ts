import { ALL_SERVICES, startServices, type Program } from '#testing';
import { runScene, type Outcome } from './replicas-scene.js';
import { setStage, type Stage } from './scenario.js';

// Runs the same requests with one replica and with two replicas of each service, and compares the results.

interface Installation {
  stage: Stage;
  programs: Program[];
}

async function startInstallation(replicas: number): Promise<Installation> {
  const stage = await setStage();
  const names = ALL_SERVICES.flatMap((name) => Array.from({ length: replicas }, () => name));
  return { stage, programs: await startServices(stage.env, names) };
}

async function stopInstallation({ stage, programs }: Installation): Promise<void> {
  await Promise.all(programs.map((program) => program.stop()));
  await stage.close();
}

function run({ stage, programs }: Installation): Promise<Outcome> {
  const gateways = programs.filter(({ name }) => name === 'gateway').map(({ url }) => url);
  return runScene(stage, gateways);
}

describe('the six services, whether each has one replica or two,', () => {
  let one: Outcome;
  let two: Outcome;

  beforeAll(async () => {
    const single = await startInstallation(1);
    try {
      one = await run(single);
    } finally {
      await stopInstallation(single);
    }
    const double = await startInstallation(2);
    try {
      two = await run(double);
    } finally {
      await stopInstallation(double);
    }
  }, 400_000);

  it('find the same mentions', () => {
    expect(one.mentions.length).toBeGreaterThan(100);
    expect(two.mentions).toEqual(one.mentions);
  });

  it('deliver the same events', () => {
    expect(one.deliveries.length).toBeGreaterThan(50);
    expect(two.deliveries).toEqual(one.deliveries);
  });

  it('charge exactly the same credits', () => {
    // Checks: 11 on hackernews, because eight searches begin and three of them start over. Two on x, for the two
    // searches that start over; each costs 5. The first checks on x are first scans of 12 tweets.
    expect(one.charged).toEqual({
      analysis: 60,
      check: 21,
      first_scan: 12,
      'x.tweets': 9,
      'reddit.moderated': 12,
    });
    expect(two.charged).toEqual(one.charged);
  });

  it('have the same prices, and the same keywords at the end', () => {
    expect(two.estimates).toEqual(one.estimates);
    expect(two.keywords).toEqual(one.keywords);
  });

  it('refuse the same requests', () => {
    expect(two.refusals).toEqual(one.refusals);
  });
});
