/** Returns the changed part of a definition, which a PATCH sends. */
export const changedPart = <T extends object>(before: T, after: T): Partial<T> =>
  partOf(after, changedKeys(before, after));

/** Returns the keys whose values differ. */
export const changedKeys = <T extends object>(before: T, after: T) =>
  (Object.keys(after) as (keyof T)[]).filter((key) => canonical(before[key]) !== canonical(after[key]));

/**
 * Returns the part of the stored definition that a save would replace although another member has changed it since it
 * was read.
 * @param before the definition that the page has read
 * @param after the definition of the form
 * @param present the definition that is stored now
 */
export function overwrittenPart<T extends object>(before: T, after: T, present: T): Partial<T> {
  const others = new Set(changedKeys(before, present));
  const own = new Set(changedKeys(before, after));
  return partOf(
    present,
    changedKeys(present, after).filter((key) => own.has(key) && others.has(key)),
  );
}

const partOf = <T extends object>(whole: T, keys: readonly (keyof T)[]) =>
  Object.fromEntries(keys.map((key) => [key, whole[key]])) as Partial<T>;

/** Returns a text that is the same for equal values, also if their keys have another order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
