import { create } from '@bufbuild/protobuf';
import { LabelEventSchema, type ChangeMention, type LabelEvent } from '#contracts';

/** A person's decisions about a mention. */
export interface LabelState {
  /**
   * The labels that a person has set. Undefined if no person has set labels: then the mention has the labels that rules
   * set.
   */
  labels: readonly string[] | undefined;
  corrections: Readonly<Corrections>;
}

/** Values that a person has corrected. An absent key has no correction. */
export interface Corrections {
  sentiment?: string;
  intent?: string;
  /** 0 to 100 */
  relevance?: number;
}

/** The state of a mention about which no person has decided. */
export const UNLABELLED: LabelState = { labels: undefined, corrections: {} };

/** The values in a command that remove a correction. The first is for texts, the second for numbers. */
const NO_TEXT = '';
const NO_NUMBER = -1;

/**
 * Returns the events of the command; none if every value is already set. The events also repeat the earlier decisions:
 * LABELS keeps a decision for 90 days, and a rebuild of the table from LABELS must not lose the older ones.
 */
export function decide(command: ChangeMention, state: LabelState): LabelEvent[] {
  const { labels, sentiment, intent, relevance } = command;
  const events: LabelEvent[] = [];
  if (labels) {
    const wanted = [...new Set(labels.labels)].sort();
    if (state.labels === undefined || wanted.join() !== state.labels.join())
      events.push(event({ case: 'labelled', value: { labels: wanted } }));
  }
  const correct = (name: keyof Corrections, given: string | number | undefined, none: string | number) => {
    if (given === undefined) return;
    const wanted = given === none ? undefined : given;
    if (wanted === state.corrections[name]) return;
    events.push(
      wanted === undefined ? event({ case: 'takenBack', value: { reading: name } }) : corrected(name, wanted),
    );
  };
  correct('sentiment', sentiment, NO_TEXT);
  correct('intent', intent, NO_TEXT);
  correct('relevance', relevance, NO_NUMBER);
  return events.length === 0 ? [] : [...eventsOf(state), ...events];
}

/** Returns events that lead from no decision to this state. */
function eventsOf({ labels, corrections }: LabelState): LabelEvent[] {
  return [
    ...(labels ? [event({ case: 'labelled', value: { labels: [...labels] } })] : []),
    ...Object.entries(corrections).map(([name, value]) => corrected(name as keyof Corrections, value)),
  ];
}

/** Returns the state after the event. */
export function evolve(state: LabelState, { event: { case: kind, value } }: LabelEvent): LabelState {
  switch (kind) {
    case 'labelled':
      return { ...state, labels: value.labels };
    case 'corrected': {
      const { case: reading, value: corrected } = value.reading;
      return reading === undefined
        ? state
        : { ...state, corrections: { ...state.corrections, [reading]: corrected } };
    }
    case 'takenBack': {
      const kept = Object.entries(state.corrections).filter(([name]) => name !== value.reading);
      return { ...state, corrections: Object.fromEntries(kept) };
    }
    case undefined:
      return state;
  }
}

function corrected(name: keyof Corrections, value: string | number): LabelEvent {
  return event({ case: 'corrected', value: { reading: { case: name, value } as never } });
}

function event(
  init: NonNullable<Parameters<typeof create<typeof LabelEventSchema>>[1]>['event'],
): LabelEvent {
  return create(LabelEventSchema, { event: init });
}
