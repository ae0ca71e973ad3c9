import { newId } from '#kernel';
import { AlertsUnderTest, rule, RULE } from '../testing/alerts-under-test.js';

let fixture: AlertsUnderTest;

beforeAll(async () => {
  fixture = await AlertsUnderTest.open();
});
afterAll(() => fixture?.close());

it.each([
  ['cannot be decoded', { source: { any: ['reddit', 'x'] } }],
  ['has an unknown condition', { when: { kind: 'silence', window: '1h' } }],
  ['has an unknown window', { when: { kind: 'volume', window: '7d', min: 5, multiple: 2 } }],
])(
  'a stored rule that %s is logged, keeps its open episode, and disturbs no other rule or keyword',
  async (_, change) => {
    const [scene, other] = [
      await fixture.scene({ rules: [rule()] }),
      await fixture.scene({ rules: [rule()] }),
    ];
    await scene.publish(scene.mentions(5, 4, 3, 2, 1));
    await scene.evaluate();
    const good = { ...rule(), id: newId() };
    await scene.defineJson({ rules: [{ ...rule(), ...change }, good] });
    const logged = jest.spyOn(fixture.log, 'error');
    for (const one of [scene, other]) await one.publish(one.mentions(1, 1, 1, 1, 1));
    await scene.evaluate(1, [fixture.replica()], other);
    const errors = logged.mock.calls.map(([fields]) => fields);
    logged.mockRestore();
    expect(errors).toMatchObject([{ keywordId: scene.keywordId, ruleId: RULE }]);
    expect(await scene.kinds()).toEqual(['fired', 'fired']);
    expect(await other.kinds()).toEqual(['fired']);
    await scene.define({ rules: [rule(), good] });
    await scene.publish(scene.mentions(0));
    await scene.evaluate(2);
    expect(await scene.kinds()).toEqual(['fired', 'fired']);
  },
);

it.each([
  ['spikeAlert', { spikeAlert: 'extreme' }, 'spike'],
  ['rule', { rules: [{ ...rule(), when: { kind: 'silence', window: '1h' } }] }, RULE],
])(
  'a stored %s that this release does not know is logged, even if the keyword has no other alert',
  async (_, json, ruleId) => {
    const scene = await fixture.scene({});
    await scene.defineJson(json);
    const logged = jest.spyOn(fixture.log, 'error');
    await scene.publish(scene.mentions(1, 1, 1, 1, 1));
    const replica = fixture.replica();
    await scene.evaluate(0, [replica]);
    await scene.publish(scene.mentions(0));
    await scene.evaluate(1, [replica]);
    const errors = logged.mock.calls.map(([fields]) => fields);
    logged.mockRestore();
    expect(errors).toMatchObject([{ keywordId: scene.keywordId, ruleId }]);
    expect(await scene.facts()).toEqual([]);
  },
);
