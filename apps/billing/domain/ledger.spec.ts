import fc from 'fast-check';
import type { CreditMovement } from '#contracts';
import { derivedId, isoOf, Refusal } from '#kernel';
import { decide, decideAll, movementIdOf, type ChargeCause, type LedgerCommand } from './ledger.js';
import {
  creditsOf,
  evolve,
  noLedger,
  nextChangeAt,
  type LedgerState,
  type OpenLedger,
} from './ledger-state.js';

const accountId = derivedId('spec', 'account');
const OPENED = '2026-01-31T12:00:00.000Z';
const open: LedgerCommand = { kind: 'open', plan: 'free', at: OPENED };
const grant = (packId: string, credits: number, expiresAt = ''): LedgerCommand => ({
  kind: 'grant',
  packId,
  credits,
  expiresAt,
  note: '',
});
const charge = (reference: string, costCredits: number, more: Partial<ChargeCause> = {}): LedgerCommand => ({
  kind: 'charge',
  operation: 'check',
  source: 'x',
  keywordId: '',
  watchId: 'w',
  checkId: reference,
  reference,
  at: OPENED,
  costCredits,
  rateCredits: costCredits,
  units: 1,
  priceBookVersion: '2026-11-20',
  ...more,
});

/** Executes the commands one after another, each at its own time. */
function given(...commands: readonly (readonly [string, LedgerCommand])[]) {
  let state: LedgerState = noLedger;
  const movements: CreditMovement[] = [];
  for (const [now, command] of commands) {
    const decided = decide(command, state, { accountId, now });
    movements.push(...decided);
    state = decided.reduce(evolve, state);
  }
  const ledger = (): OpenLedger => {
    if (state.status === 'none') throw new Error('the ledger is not open');
    return state;
  };
  return { state, movements, ledger };
}

const summaryOf = (movements: readonly CreditMovement[]) =>
  movements.map(({ amount, balanceAfter, cause }) => [cause.case, amount, balanceAfter]);
const drawsOf = ({ cause }: CreditMovement) =>
  cause.case === 'charge' ? cause.value.draws.map(({ packId, credits }) => [packId, credits]) : [];

describe('a ledger', () => {
  it('opens with the plan’s allowance for a month', () => {
    const { movements, ledger } = given([OPENED, open]);
    expect(summaryOf(movements)).toEqual([['renewal', 3000, 3000]]);
    expect(ledger()).toEqual({
      status: 'open',
      plan: 'free',
      openedAt: OPENED,
      periodStart: OPENED,
      periodEnd: '2026-02-28T12:00:00.000Z',
      allowance: 3000,
      allowanceUsed: 0,
      packs: [],
    });
  });

  it('does not open twice', () => {
    const { movements } = given([OPENED, open], [OPENED, { ...open, plan: 'pro' }]);
    expect(movements.length).toBe(1);
  });

  it('cannot be charged before it is open', () => {
    expect(() => given([OPENED, charge('c', 1)])).toThrow(Refusal);
  });

  it('spends the allowance first, then the pack that expires first, then the pack that never expires [credits.allowance-first, credits.packs-by-expiry]', () => {
    const { movements, ledger } = given(
      [OPENED, open],
      [OPENED, grant('never', 10)],
      [OPENED, grant('late', 20, '2026-02-20T00:00:00.000Z')],
      [OPENED, grant('soon', 30, '2026-02-10T00:00:00.000Z')],
      [OPENED, charge('a', 3010)],
      [OPENED, charge('b', 45)],
    );
    expect(movements.slice(4).map(drawsOf)).toEqual([
      [
        ['', 3000],
        ['soon', 10],
      ],
      [
        ['soon', 20],
        ['late', 20],
        ['never', 5],
      ],
    ]);
    expect(ledger().packs).toEqual([{ id: 'never', granted: 10, remaining: 5, expiresAt: null }]);
  });

  it('orders packs that never expire by their ids', () => {
    const { ledger } = given([OPENED, open], [OPENED, grant('b', 1)], [OPENED, grant('a', 1)]);
    expect(ledger().packs.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('never goes below zero: it charges only the available credits, and records the full price [credits.never-negative]', () => {
    const { movements } = given([OPENED, open], [OPENED, charge('a', 3001)], [OPENED, charge('b', 1)]);
    expect(summaryOf(movements.slice(1))).toEqual([
      ['charge', -3000, 0],
      ['charge', 0, 0],
    ]);
    expect(movements[2]?.cause).toMatchObject({ value: { costCredits: 1, draws: [] } });
  });

  it('records no movement for a free operation', () => {
    expect(given([OPENED, open], [OPENED, charge('a', 0)]).movements.length).toBe(1);
  });
});

describe('a ledger over time', () => {
  const month = (now: string) => {
    const { ledger } = given([OPENED, open], [now, { kind: 'renew' }]);
    return [ledger().periodStart, ledger().periodEnd].map((at) => at.slice(0, 10));
  };

  it('begins each period on the day of the month of its opening, or on the last day of a shorter month', () => {
    expect(month('2026-02-28T11:59:59.999Z')).toEqual(['2026-01-31', '2026-02-28']);
    expect(month('2026-02-28T12:00:00.000Z')).toEqual(['2026-02-28', '2026-03-31']);
    expect(month('2026-03-31T12:00:00.000Z')).toEqual(['2026-03-31', '2026-04-30']);
    expect(month('2028-02-29T12:00:00.000Z')).toEqual(['2028-02-29', '2028-03-31']);
  });

  it('renews each missed period in order and without a gap after months without activity', () => {
    const { movements } = given(
      [OPENED, open],
      [OPENED, charge('a', 1000)],
      ['2026-07-15T00:00:00.000Z', { kind: 'renew' }],
    );
    expect(summaryOf(movements.slice(2))).toEqual([
      ['renewal', 1000, 3000],
      ...Array.from({ length: 4 }, () => ['renewal', 0, 3000]),
    ]);
    const periods = movements.flatMap(({ cause }) =>
      cause.case === 'renewal' ? [[cause.value.periodStart, cause.value.periodEnd]] : [],
    );
    expect(periods.slice(1).map(([start]) => start)).toEqual(periods.slice(0, -1).map(([, end]) => end));
    expect(periods.at(-1)).toEqual(['2026-06-30T12:00:00.000Z', '2026-07-31T12:00:00.000Z']);
  });

  it('removes expired packs before any other decision', () => {
    const { movements } = given(
      [OPENED, open],
      [OPENED, grant('p', 50, '2026-02-10T00:00:00.000Z')],
      [OPENED, charge('a', 3010)],
      ['2026-02-10T00:00:00.000Z', charge('b', 5)],
    );
    expect(summaryOf(movements.slice(3))).toEqual([
      ['packExpiry', -40, 0],
      ['charge', 0, 0],
    ]);
  });

  it('states its next change: the end of the period, or the first expiry of a pack', () => {
    const soon = '2026-02-10T00:00:00.000Z';
    expect(nextChangeAt(given([OPENED, open], [OPENED, grant('p', 1)]).ledger())).toBe(
      '2026-02-28T12:00:00.000Z',
    );
    expect(nextChangeAt(given([OPENED, open], [OPENED, grant('p', 1, soon)]).ledger())).toBe(soon);
    const late = grant('p', 1, '2026-12-01T00:00:00.000Z');
    expect(nextChangeAt(given([OPENED, open], [OPENED, late]).ledger())).toBe('2026-02-28T12:00:00.000Z');
  });

  it('renews the periods that have passed if its opening is applied late', () => {
    const { movements } = given(['2026-03-01T00:00:00.000Z', open]);
    expect(summaryOf(movements)).toEqual([
      ['renewal', 3000, 3000],
      ['renewal', 0, 3000],
    ]);
  });
});

describe('a change of plan', () => {
  const to = (plan: string, changeId = plan): LedgerCommand => ({ kind: 'change-plan', plan, changeId });

  it('grants the new allowance minus the credits that this period has used, and the whole allowance from the next period on', () => {
    const { movements } = given(
      [OPENED, { ...open, plan: 'solo' }],
      [OPENED, charge('a', 5000)],
      [OPENED, to('free')],
      [OPENED, to('growth')],
      ['2026-02-28T12:00:00.000Z', { kind: 'renew' }],
    );
    expect(summaryOf(movements.slice(2))).toEqual([
      ['allowanceChange', -55_000, 0],
      ['allowanceChange', 245_000, 245_000],
      ['renewal', 5000, 250_000],
    ]);
  });

  it('does not change packs', () => {
    const { ledger } = given([OPENED, open], [OPENED, grant('p', 7)], [OPENED, to('pro')]);
    expect(creditsOf(ledger())).toBe(1_000_007);
  });
});

describe('the id of a movement', () => {
  it('is the same for a second charge of one fact, and different for other causes', () => {
    const ids = [
      open,
      charge('a', 1),
      charge('b', 1),
      charge('a', 1, { part: 'analysis' }),
      charge('a', 1, { part: 'bucket' }),
      grant('a', 1),
      { kind: 'change-plan', changeId: 'a', plan: 'pro' } as const,
    ].map((command) => movementIdOf(command, accountId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(movementIdOf(charge('a', 99, { operation: 'first_scan' }), accountId)).toBe(ids[1]);
    expect(movementIdOf({ kind: 'renew' }, accountId)).toBeUndefined();
  });

  it('is the same for the command that opens the ledger and for the first renewal', () => {
    const [first] = given([OPENED, open]).movements;
    expect(first?.movementId).toBe(movementIdOf(open, accountId));
  });
});

it('commands in one batch have the same result as commands that are executed one after another', () => {
  const command = fc.oneof(
    fc.record({ n: fc.nat(20), cost: fc.nat(900) }).map(({ n, cost }) => charge(`c${n}`, cost)),
    fc
      .record({ n: fc.nat(5), credits: fc.integer({ min: 1, max: 500 }) })
      .map(({ n, credits }) => grant(`p${n}`, credits)),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
      const now = isoOf(Date.parse(OPENED) + 1000);
      const together = decideAll([open, ...commands], noLedger, { accountId, now });
      const single = given(...[open, ...commands].map((one) => [now, one] as const));
      expect(together).toEqual(single.movements);
    }),
  );
});
