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

/** Options of `jest.useFakeTimers` that replace the named functions and leave all others as they are. */
export function fakeOnly(...names: Fakeable[]): { doNotFake: Fakeable[] } {
  return { doNotFake: FAKEABLE.filter((name) => !names.includes(name)) };
}
