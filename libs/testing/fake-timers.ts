const FAKEABLE = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

type Fakeable = (typeof FAKEABLE)[number];

/** Options of `jest.useFakeTimers` that replace only the named functions. */
export function fakeOnly(...names: Fakeable[]): { doNotFake: Fakeable[] } {
  return { doNotFake: FAKEABLE.filter((name) => !names.includes(name)) };
}
