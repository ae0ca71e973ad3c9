import { audit } from './audit.js';
import { cause, factOf, faultsOf, ledgerOf, OPENED, type Step } from './testing/audit-under-test.js';

describe('the audit of a ledger whose stream and tables agree', () => {
  const DAY_MS = 86_400_000;
  const opened: Step = [OPENED, { kind: 'open', plan: 'free', at: OPENED }];
  const grant: Step = [OPENED, { kind: 'grant', packId: 'p1', credits: 50, expiresAt: '', note: '' }];
  const NEXT = '2026-04-01T00:00:00.000Z';

  it('finds no fault in a ledger that was opened, changed and renewed as decided, and got a pack', () => {
    const change = { kind: 'change-plan', changeId: 'c1', plan: 'solo' } as const;
    const input = ledgerOf([opened, grant, [OPENED, change], [NEXT, { kind: 'renew' }]]);
    const accountFacts = [...input.accountFacts, { seq: 2, command: change }];
    expect(audit({ ...input, accountFacts, now: Date.parse(NEXT) })).toMatchObject({
      faults: [],
      balance: 60_050,
    });
  });

  it('finds a second renewal of the same period under another id', () => {
    const input = ledgerOf([opened, [NEXT, { kind: 'renew' }]], (movements, n) => {
      const [renewal] = movements;
      return n === 1 && renewal ? [renewal, { ...renewal, movementId: 'again', amount: 0 }] : movements;
    });
    expect(faultsOf({ ...input, now: Date.parse(NEXT) })).toEqual([
      'movement again (renewal) exists although neither a pack nor the period had ended',
    ]);
  });

  it('finds a renewal of another plan', () => {
    const input = ledgerOf([opened, [NEXT, { kind: 'renew' }]], ([renewal], n) => {
      if (n === 1 && renewal?.cause.case === 'renewal') {
        renewal.amount = 57_000;
        renewal.balanceAfter = 60_000;
        Object.assign(renewal.cause.value, { plan: 'solo', allowanceCredits: 60_000 });
      }
      return renewal ? [renewal] : [];
    });
    expect(faultsOf({ ...input, now: Date.parse(NEXT) })).toEqual([
      expect.stringContaining('has amount 57000, but should have 0'),
      expect.stringContaining('has balanceAfter 60000, but should have 3000'),
      expect.stringContaining('has plan "solo", but should have "free"'),
      expect.stringContaining('has allowanceCredits 60000, but should have 3000'),
    ]);
  });

  it('finds an opening or a plan change without a decision, unless the movement was stored during the audit', () => {
    const change: Step = [OPENED, { kind: 'change-plan', changeId: 'c1', plan: 'pro' }];
    const input = { ...ledgerOf([opened, change]), accountFacts: [] };
    expect(faultsOf(input)).toEqual([
      expect.stringMatching(/\(renewal\) does not follow from any decision about the account$/),
      expect.stringMatching(/\(allowanceChange\) does not follow from any decision about the account$/),
    ]);
    expect(faultsOf({ ...input, chargedBefore: 0 })).toEqual([]);
  });

  it('finds a missing renewal, and a movement that was stored although a renewal was due before it', () => {
    const input = ledgerOf([opened]);
    const late = Date.parse(NEXT) + DAY_MS;
    expect(faultsOf({ ...input, now: late - 1 })).toEqual([]);
    expect(faultsOf({ ...input, now: late })).toEqual([
      'the ledger should have been renewed at 2026-04-01T00:00:00.000Z: the end of the period, or of a pack, was skipped',
    ]);
    const after = ledgerOf([opened, [NEXT, grant[1]]], (movements) => movements.slice(-1));
    expect(faultsOf({ ...after, now: Date.parse(NEXT) })).toEqual([
      expect.stringMatching(/\(grant\) is stored before the renewal that was due$/),
    ]);
  });

  it('finds a gap between two periods', () => {
    const may = '2026-05-01T00:00:00.000Z';
    const input = ledgerOf([opened, [may, { kind: 'renew' }]], (movements) => movements.slice(-1));
    expect(faultsOf({ ...input, now: Date.parse(may) })).toContainEqual(
      expect.stringContaining(`has periodStart "${may}", but should have "${NEXT}"`),
    );
  });

  it('finds a pack that was spent before the allowance, and a pack of half a credit [credits.allowance-first]', () => {
    const drawn = ledgerOf([opened, grant, [OPENED, { kind: 'charge', ...cause(1) }]], ([first]) => {
      if (first?.cause.case === 'charge' && first.cause.value.draws[0])
        first.cause.value.draws[0].packId = 'p1';
      return first ? [first] : [];
    });
    expect(faultsOf({ ...drawn, facts: [factOf(cause(1), 1)] })).toEqual([
      expect.stringContaining(
        'has draws [{"packId":"p1","credits":2}], but should have [{"packId":"","credits":2}]',
      ),
    ]);
    const empty = ledgerOf([opened, grant], ([first]) => {
      if (first?.cause.case === 'grant') Object.assign(first, { amount: 0.5, balanceAfter: 3000.5 });
      return first ? [first] : [];
    });
    expect(faultsOf(empty)).toEqual([
      expect.stringContaining('should have been refused: must be a whole number'),
    ]);
  });

  describe('in which a charge took less than its cost', () => {
    const at = (minute: number) =>
      `2026-03-01T0${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}:00.000Z`;
    const check = (n: number, costCredits: number, minute: number): Step => [
      at(minute),
      { kind: 'charge', ...cause(n, { costCredits, at: at(minute) }) },
    ];
    const smaller = { kind: 'change-plan', changeId: 'c1', plan: 'free' } as const;
    const solo: Step = [OPENED, { kind: 'open', plan: 'solo', at: OPENED }];
    const audited = (steps: Step[]) => {
      const commands = steps.map(([, command]) => command);
      const accountFacts = commands.flatMap((command, n) =>
        command.kind === 'open' || command.kind === 'change-plan' ? [{ seq: n + 1, command }] : [],
      );
      const facts = commands.flatMap((command, n) => (command.kind === 'charge' ? [factOf(command, n)] : []));
      const { faults, notes, balance } = audit({ ...ledgerOf(steps), accountFacts, facts });
      return { faults, notes, balance };
    };
    const note = (charges: number, credits: number) =>
      `charges that took less than their cost, because the plan became smaller or a pack expired during the work: ${charges} (${credits} credits were not paid)`;
    const fault = expect.stringMatching(
      /took \d+ for a cost of \d+: the balance did not cover the rest$/,
    ) as string;

    it('finds no fault in checks that were reserved before a change to a smaller plan, and notes their unpaid credits', () => {
      const steps = [solo, check(1, 2_999, 10), [at(20), smaller] as Step, check(2, 2, 21), check(3, 5, 22)];
      expect(audited(steps)).toEqual({ faults: [], notes: [note(2, 6)], balance: 0 });
    });

    it('finds no fault in a check that was reserved before its pack expired', () => {
      const pack: Step = [OPENED, { kind: 'grant', packId: 'p1', credits: 5, expiresAt: at(20), note: '' }];
      const steps = [opened, pack, check(1, 3_000, 10), check(2, 2, 21)];
      expect(audited(steps)).toEqual({ faults: [], notes: [note(1, 2)], balance: 0 });
    });

    it('finds a check that began after the change of plan, and charges that exceed the credits that the change took away', () => {
      expect(audited([solo, check(1, 3_000, 10), [at(20), smaller], check(2, 2, 81)]).faults).toEqual([
        fault,
      ]);
      expect(audited([solo, check(1, 59_990, 10), [at(20), smaller], check(2, 11, 21)]).faults).toEqual([
        fault,
      ]);
    });
  });
});
