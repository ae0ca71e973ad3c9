import type { Fault } from '#kernel';

/** Keys whose value is an object with keys that the user chooses. These inner keys are not changed. */
const FREE_FORM = new Set(['filters']);
/** Keys whose value is an object that maps names that the user chooses to objects with Earshot's keys. */
const NAMED_BY_USER = new Set(['schema']);
const SNAKE = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/;

/** Returns a key in camelCase. A key that is not in snake_case stays unchanged. */
export function camelKey(key: string): string {
  return SNAKE.test(key) ? key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : key;
}

/** A body with camelCase keys, and the sender's spelling of each key. */
export interface CasedBody {
  body: unknown;
  /** Maps each key in camelCase to the key as it was sent: in snake_case if it was sent in both spellings. */
  spelling: ReadonlyMap<string, string>;
  /**
   * The spelling in which the sender wrote keys that consist of several words: `snake` if at least one of them is in
   * snake_case; undefined if there are no such keys.
   */
  style: 'snake' | 'camel' | undefined;
  faults: Fault[];
}

/** Returns a body that is allowed to contain only camelCase. Converts nothing. */
export function unconverted(body: unknown): CasedBody {
  return { body, spelling: new Map(), style: 'camel', faults: [] };
}

/** Converts snake_case keys to camelCase. The same key in both spellings is a fault. User data is never changed. */
export function toCamelCase(body: unknown): CasedBody {
  const seen: Seen = { spelling: new Map(), hasSnake: false, hasCamel: false, faults: [] };
  const converted = convert(body, '', seen);
  const { spelling, hasSnake, hasCamel, faults } = seen;
  return {
    body: converted,
    spelling,
    faults,
    style: hasSnake ? 'snake' : hasCamel ? 'camel' : undefined,
  };
}

interface Seen {
  spelling: Map<string, string>;
  hasSnake: boolean;
  hasCamel: boolean;
  faults: Fault[];
}

function convert(value: unknown, path: string, seen: Seen): unknown {
  if (Array.isArray(value)) return value.map((item, index) => convert(item, `${path}[${index}]`, seen));
  if (!isObject(value)) return value;
  const converted: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const camel = camelKey(key);
    const at = path === '' ? key : `${path}.${key}`;
    if (Object.hasOwn(converted, camel)) {
      seen.faults.push({
        path: at,
        message: `is given twice: as ${seen.spelling.get(camel) ?? camel} and as ${key}`,
      });
      continue;
    }
    if (camel !== key || !seen.spelling.has(key)) seen.spelling.set(camel, key);
    seen.hasSnake ||= camel !== key;
    seen.hasCamel ||= camel === key && /[A-Z]/.test(key);
    define(converted, camel, convertInner(camel, inner, at, seen));
  }
  return converted;
}

function convertInner(camel: string, inner: unknown, at: string, seen: Seen): unknown {
  if (FREE_FORM.has(camel)) return inner;
  if (!NAMED_BY_USER.has(camel) || !isObject(inner)) return convert(inner, at, seen);
  const named: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(inner))
    define(named, name, convert(field, `${at}.${name}`, seen));
  return named;
}

/** Sets a property. A key such as `__proto__` becomes an ordinary property. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
