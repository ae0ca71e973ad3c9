import { deepStrictEqual } from 'node:assert/strict';
import { Refusal, type RefusalKind } from '#kernel';

interface Decider<Command, Event, State> {
  decide(command: Command, state: State): Event[];
  evolve(state: State, event: Event): State;
  /** The state before the first event. */
  initial: State;
}

/** The expected parts of a refusal; other parts are not compared. */
interface ExpectedRefusal {
  kind: RefusalKind;
  code?: string;
  /** Paths in the details of the refusal. */
  paths?: readonly string[];
}

/** Returns `given` for a decider: `given(...events).when(command).then(expected events or refusal)`. */
export function givenFor<Command, Event, State>({ decide, evolve, initial }: Decider<Command, Event, State>) {
  return (...events: Event[]) => ({
    when(command: Command) {
      const outcome = outcomeOf(() => decide(command, events.reduce(evolve, initial)));
      return {
        then: (expected: readonly Event[] | ExpectedRefusal) =>
          deepStrictEqual(isRefusal(expected) ? partOf(outcome, Object.keys(expected)) : outcome, expected),
      };
    },
  });
}

function outcomeOf(decide: () => unknown): unknown {
  try {
    return decide();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { kind, code, details = [] } = error;
    return { kind, code, paths: details.map(({ path }) => path) };
  }
}

function isRefusal(expected: readonly unknown[] | ExpectedRefusal): expected is ExpectedRefusal {
  return !Array.isArray(expected);
}

/**
 * Returns the parts of a refusal with these names. Returns an array unchanged, because it contains events and no
 * refusal.
 */
function partOf(outcome: unknown, names: readonly string[]): unknown {
  if (Array.isArray(outcome)) return outcome;
  return Object.fromEntries(Object.entries(outcome as object).filter(([name]) => names.includes(name)));
}
