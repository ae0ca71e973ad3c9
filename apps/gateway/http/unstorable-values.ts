import { Refusal, type Fault } from '#kernel';

/** The user chooses the keys inside these objects. */
const USER_DATA_KEYS: ReadonlySet<string> = new Set(['filters', 'schema']);
/**
 * Postgres cannot store these characters in text or jsonb, so no projection could apply a message that contains them.
 */
export const NOT_STORABLE = /[\0\p{Surrogate}]/u;

/**
 * Refuses a parsed body that cannot become a DTO or cannot be stored.
 * @throws Refusal `invalid` `VALIDATION`; paths are in the sender's spelling
 */
export function refuseUnstorableValues(body: unknown): void {
  const faults: Fault[] = [];
  visit(body, '', false, faults);
  if (faults.length > 0) throw Refusal.validation(faults);
}

function visit(value: unknown, path: string, isUserData: boolean, faults: Fault[]): void {
  if (typeof value === 'string' && NOT_STORABLE.test(value))
    faults.push({ path, message: 'must not contain U+0000 or an unpaired surrogate (half of a character)' });
  // JSON has no limit for numbers. JavaScript reads numbers above its own limit as infinite, which JSON cannot
  // represent.
  if (typeof value === 'number' && !Number.isFinite(value))
    faults.push({ path, message: 'is a number that is too large' });
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value))
    return value.forEach((item, index) => visit(item, `${path}[${index}]`, isUserData, faults));
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (NOT_STORABLE.test(key))
      faults.push({
        path,
        message: 'must not have a key with U+0000 or an unpaired surrogate (half of a character)',
      });
    if (!isUserData && isInherited(key)) faults.push({ path: at, message: 'is not a known key' });
    else visit(inner, at, isUserData || USER_DATA_KEYS.has(key), faults);
  }
}

/** Returns whether class-transformer would throw on the key, or ignore the key without an error. */
function isInherited(key: string): boolean {
  return key in Object.prototype;
}
