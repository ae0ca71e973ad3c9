import { ALL_SERVICES, startServices, type Program } from '#testing';
import { playScene, type Outcome } from './replicas-scene.js';
import { setStage, type Stage } from './scenario.js';

// Plays the same scene under load, with one replica and with two replicas of each service.

interface Cast {
  stage: Stage;
  programs: Program[];
}

async function cast(replicas: number): Promise<Cast> {
  const stage = await setStage();
  const names = ALL_SERVICES.flatMap((name) => Array.from({ length: replicas }, () => name));
  return { stage, programs: await startServices(stage.env, names) };
}

async function end({ stage, programs }: Cast): Promise<void> {
  await Promise.all(programs.map((program) => program.stop()));
  await stage.close();
}

function play({ stage, programs }: Cast): Promise<Outcome> {
  const gateways = programs.filter(({ name }) => name === 'gateway').map(({ url }) => url);
  return playScene(stage, gateways);
}

describe('the six services in two replicas each', () => {
  let one: Outcome;
  let two: Outcome;

  beforeAll(async () => {
    const alone = await cast(1);
    try {
      one = await play(alone);
    } finally {
      await end(alone);
    }
    const pairs = await cast(2);
    try {
      two = await play(pairs);
    } finally {
      await end(pairs);
    }
  }, 400_000);

  it('find the same mentions', () => {
    expect(one.mentions.length).toBeGreaterThan(100);
    expect(two.mentions).toEqual(one.mentions);
  });

  it('deliver the same events, one for each mention', () => {
    expect(one.deliveries.length).toBeGreaterThan(50);
    expect(two.deliveries).toEqual(one.deliveries);
  });

  it('charge exactly the same credits', () => {
    // Eight searches on hackernews, of which three start over; two on x start over; 12 tweets of first scans.
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
