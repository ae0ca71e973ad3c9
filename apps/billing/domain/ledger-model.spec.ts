import fc from 'fast-check';
import { limitsOf, type CreditMovement } from '#contracts';
import { derivedId, isoOf } from '#kernel';
import { decideAll, movementIdOf, type LedgerCommand } from './ledger.js';
import { creditsOf, evolve, noLedger, type LedgerState } from './ledger-state.js';

const accountId = derivedId('spec', 'account');
const OPENED = Date.parse('2026-01-31T12:00:00.000Z');
const DAY_MS = 86_400_000;
const RUNS = 1500;
/** The starts of the periods of an account that was opened on 31 January. */
const PERIODS = [
  '01-31',
  '02-28',
  '03-31',
  '04-30',
  '05-31',
  '06-30',
  '07-31',
  '08-31',
  '09-30',
  '10-31',
].map((day) => Date.parse(`2026-${day}T12:00:00.000Z`));

/**
 * The expected ledger. This model charges every cause only once, one credit at a time. It uses the allowance before the
 * packs, and the packs in the order of their expiry.
 */
class Model {
  private readonly done = new Set<string>();
  private plan = 'free';
  private used = 0;
  private period = 0;
  packs: { id: string; remaining: number; end: number }[] = [];

  execute(command: LedgerCommand, now: number): void {
    this.packs = this.packs.filter(({ remaining, end }) => remaining > 0 && end > now);
    for (; now >= (PERIODS[this.period + 1] ?? Infinity); this.period += 1) this.used = 0;
    const id = movementIdOf(command, accountId) ?? '';
    if (this.done.has(id)) return;
    if (id !== '') this.done.add(id);
    if (command.kind === 'change-plan') this.plan = command.plan;
    if (command.kind === 'grant')
      this.packs.push({
        id: command.packId,
        remaining: command.credits,
        end: Date.parse(command.expiresAt || '9999-01-01'),
      });
    this.packs.sort((a, b) => a.end - b.end || (a.id < b.id ? -1 : 1));
    for (
      let remaining = command.kind === 'charge' ? command.costCredits : 0;
      remaining > 0 && this.credits > 0;
      remaining -= 1
    ) {
      const pack = this.packs.find((one) => one.remaining > 0);
      if (this.allowance > 0) this.used += 1;
      else if (pack) pack.remaining -= 1;
    }
  }

  get allowance(): number {
    return Math.max(0, limitsOf(this.plan).monthlyCredits - this.used);
  }

  get credits(): number {
    return this.packs.reduce((sum, { remaining }) => sum + remaining, this.allowance);
  }
}

/** The writer without its stores: a stream, and tables that can lack messages after a crash. */
class Writer {
  readonly stream: CreditMovement[][] = [];
  private tables = { state: noLedger as LedgerState, seq: 0, known: new Set<string>() };

  /** Executes the commands. @param crashes whether the process dies after the append */
  write(commands: readonly LedgerCommand[], now: number, crashes: boolean): void {
    const decide = () => {
      const { state, known } = this.tables;
      const seen = new Set(known);
      const open = commands.filter((command) => {
        const id = movementIdOf(command, accountId);
        if (id === undefined) return true;
        return !seen.has(id) && seen.add(id);
      });
      return decideAll(open, state, { accountId, now: isoOf(now) });
    };
    let movements = decide();
    if (movements.length > 0 && this.tables.seq !== this.stream.length) {
      // The append conflicts, because the stream contains a message that the tables lack.
      this.catchUp();
      movements = decide();
    }
    if (movements.length === 0) return;
    this.stream.push(movements);
    if (!crashes) this.catchUp();
  }

  /** Updates the tables from the stream. The stream's consumer can do this at any time. */
  catchUp(): LedgerState {
    for (const movements of this.stream.slice(this.tables.seq)) {
      this.tables.state = movements.reduce(evolve, this.tables.state);
      for (const { movementId } of movements) this.tables.known.add(movementId);
      this.tables.seq += 1;
    }
    return this.tables.state;
  }
}

/** Returns the charge with this number. The same number always means the same cause. */
const charge = (n: number): LedgerCommand => ({
  kind: 'charge',
  operation: 'check',
  source: 'x',
  keywordId: '',
  watchId: 'w',
  checkId: `check ${n}`,
  reference: `check ${n}`,
  at: isoOf(OPENED),
  costCredits: (n * 397) % 1400,
  rateCredits: 1,
  units: 1,
  priceBookVersion: '2026-11-20',
});
const grant = (n: number): LedgerCommand => ({
  kind: 'grant',
  packId: `pack ${n}`,
  credits: 1 + ((n * 531) % 900),
  expiresAt: n % 3 === 0 ? '' : isoOf(OPENED + ((n * 29) % 200) * DAY_MS),
  note: '',
});
const changePlan = (n: number): LedgerCommand => ({
  kind: 'change-plan',
  changeId: `change ${n}`,
  plan: n % 4 === 0 ? 'solo' : 'free',
});

const command = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40).map(charge) },
  { weight: 2, arbitrary: fc.nat(12).map(grant) },
  { weight: 1, arbitrary: fc.nat(6).map(changePlan) },
  { weight: 1, arbitrary: fc.constant<LedgerCommand>({ kind: 'renew' }) },
);
const step = fc.record({
  commands: fc.array(command, { minLength: 1, maxLength: 5 }),
  /** Days that pass before the commands. */
  days: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(12) }, fc.nat(60)),
  crashes: fc.boolean(),
  catchesUp: fc.boolean(),
});

/** The tables lack a pack at the time of its expiry. */
const EXPIRES_AFTER_A_CRASH = [
  { commands: [grant(7)], days: 0, crashes: true, catchesUp: false },
  { commands: [grant(7)], days: 3, crashes: false, catchesUp: false },
];

const isPossible = (one: LedgerCommand, now: number) =>
  one.kind !== 'grant' || one.expiresAt === '' || Date.parse(one.expiresAt) > now;

it(`a ledger agrees with its model in ${RUNS} random histories of charges, grants, renewals, changes of plan, crashes and repetitions [credits.charged-once, credits.never-negative, credits.allowance-first, credits.packs-by-expiry]`, () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const [model, writer] = [new Model(), new Writer()];
      writer.write([{ kind: 'open', plan: 'free', at: isoOf(OPENED) }], OPENED, false);
      let now = OPENED;
      for (const { commands, days, crashes, catchesUp } of steps) {
        now = Math.min(now + days * DAY_MS, (PERIODS.at(-1) ?? 0) - 1);
        const possible = commands.filter((one) => isPossible(one, now));
        writer.write(possible, now, crashes);
        for (const one of possible) model.execute(one, now);
        if (catchesUp) writer.catchUp();
      }
      // Time can have passed since the last command, so the ledger and its model both apply the renewals and expiries
      // that are due.
      writer.catchUp();
      writer.write([{ kind: 'renew' }], now, false);
      model.execute({ kind: 'renew' }, now);
      const movements = writer.stream.flat();
      expect(new Set(movements.map(({ movementId }) => movementId)).size).toBe(movements.length);
      let balance = 0;
      for (const { amount, balanceAfter } of movements) {
        balance += amount;
        expect(balanceAfter).toBe(balance);
        expect(balanceAfter).toBeGreaterThanOrEqual(0);
      }
      const ledger = writer.catchUp();
      expect(
        ledger.status === 'open' && [
          creditsOf(ledger),
          ledger.packs.map(({ id, remaining }) => [id, remaining]),
        ],
      ).toEqual([
        model.credits,
        model.packs.filter(({ remaining }) => remaining > 0).map(({ id, remaining }) => [id, remaining]),
      ]);
    }),
    { numRuns: RUNS, examples: [[EXPIRES_AFTER_A_CRASH]] },
  );
}, 60_000);
