/** The signals of relevance with the initial weights of the training. A positive weight raises the relevance. */
export const SIGNALS = {
  bias: 0.6,
  distinctive: 2.4,
  repeated: 0.4,
  thread: -0.6,
  unnamed: -0.4,
  domain: 1.8,
  handle: 1.6,
  capital: 0.9,
  lower: -1.2,
  followed: 1.2,
  compound: -2.4,
  surname: -3,
  firstName: -2.4,
  longer: -1.2,
  preposition: 0.5,
  noun: -1.4,
  venue: -3.2,
  given: -1.2,
  wanted: 2.4,
  unwanted: -4,
  offTopic: -0.8,
  company: 1.4,
  own: 2.2,
  other: -3.2,
  field: -1.4,
} as const;
/** The name of a signal. */
export type SignalName = keyof typeof SIGNALS;
/** The names of the signals, in the order of the stored weights. */
export const SIGNAL_NAMES = Object.keys(SIGNALS) as SignalName[];

/** Converts the sum of the signals to a number from 0 to 1. */
export function logistic(sum: number): number {
  return 1 / (1 + Math.exp(-sum));
}
