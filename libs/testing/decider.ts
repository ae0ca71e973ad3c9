import { deepStrictEqual } from 'node:assert/strict';
import { Refusal, type RefusalKind } from '#kernel';

interface Decider<Command, Event, State> {
  decide(command: Command, state: State): Event[];
  evolve(state: State, event: Event): State;
  /** Before the first event. */
  initial: State;
}

/** What a test expects of a refusal; what it leaves out may be anything. */
interface ExpectedRefusal {
  kind: RefusalKind;
  code?: string;
  /** Of its details. */
  paths?: readonly string[];
}

/** `given(...events).when(command).then(what is decided, or how it is refused)` for a decider. */
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

/** An array, where there was no refusal, stays what it is. */
function partOf(outcome: unknown, names: readonly string[]): unknown {
  if (Array.isArray(outcome)) return outcome;
  return Object.fromEntries(Object.entries(outcome as object).filter(([name]) => names.includes(name)));
}
