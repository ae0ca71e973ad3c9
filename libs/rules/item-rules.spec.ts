import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { itemRulesOf } from './item-rules.js';
import { item, ruleOf, run, subject } from './testing/rules.js';

describe('the rules of a keyword', () => {
  const always = item({ field: 'kind', op: 'exists' });
  const never = item({ field: 'kind', op: 'eq', value: 'listing' });
  const webhook = { type: 'webhook' };

  it('run in order until a fired rule has the action `stop`, and keep the effects of earlier rules [rules.order, rules.stop, rules.mark, rules.notify]', () => {
    const rules = [
      ruleOf({ name: 'a', when: always, then: [{ type: 'mark', label: 'starred' }, webhook] }),
      ruleOf({ name: 'b', when: never, then: [{ type: 'stop' }] }),
      ruleOf({ name: 'c', when: always, then: [{ type: 'stop' }, { type: 'notify', channelIds: ['c1'] }] }),
      ruleOf({ name: 'd', when: always, then: [{ type: 'mark', label: 'hidden' }, { type: 'notify' }] }),
    ];
    const outcome = run(rules);
    expect(outcome.rules.map(({ name, fired, actions }) => [name, fired, actions])).toEqual([
      ['a', true, ['mark', 'webhook']],
      ['b', false, ['stop']],
      ['c', true, ['stop', 'notify']],
    ]);
    expect(outcome).toMatchObject({
      ...{ labels: ['starred'], stoppedBy: 'c', webhook: true },
      ...{ notifyChannelIds: ['c1'], notifyKeywordChannels: false },
    });
  });

  it('fire only if all their clauses hold', () => {
    const [yes, no] = [...always.all, ...never.all];
    expect(run([ruleOf({ when: item(yes!, no!) })]).rules[0]!.fired).toBe(false);
    expect(run([ruleOf({ when: item(yes!, yes!) })]).rules[0]!.fired).toBe(true);
  });

  it('do not run if they are disabled, for another source, or about windows of time', () => {
    const window = { kind: 'volume', window: '1h', min: 1, multiple: 1 };
    const rules = [
      ruleOf({ when: always, enabled: false }),
      ruleOf({ when: always, source: 'x' }),
      ruleOf({ when: window }),
      ruleOf({ name: 'own', when: always, source: 'reddit' }),
    ];
    expect(run(rules).rules.map(({ name }) => name)).toEqual(['own']);
  });

  it('notify all channels of the keyword if they name no channel [rules.notify]', () => {
    expect(run([ruleOf({ when: always, then: [{ type: 'notify' }] })])).toMatchObject({
      ...{ notifyKeywordChannels: true, notifyChannelIds: [], webhook: false, stoppedBy: undefined },
    });
  });
});

it('the rules do not keep the long texts of items in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = () => (collect(), process.memoryUsage().heapUsed);
  const rules = itemRulesOf([ruleOf({ when: item({ field: 'url', op: 'contains', value: 'acme' }) })]);
  const before = heap();
  for (let n = 0; n < 1_000; n += 1)
    rules.outcomeOf(
      { ...subject, url: Buffer.alloc(64 * 1024, `https://a.example/${n}/`).toString() },
      () => 0,
    );
  expect(heap() - before).toBeLessThan(20 * 1024 * 1024);
});
