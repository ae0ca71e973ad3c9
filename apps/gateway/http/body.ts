import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { Refusal, type Fault } from '#kernel';
import { toCamelCase } from './casing.js';
import { rawFaults } from './raw-faults.js';

const MAX_DEPTH = 32;

/** How a body may be spelled: `any` takes snake_case and camelCase, `camel` camelCase alone. */
export type Spelling = 'any' | 'camel';

/**
 * Reads a request body into its DTO.
 * @param more further faults that the DTO's decorators cannot see; asked even when there are others
 * @param complete fills in, in camelCase, what a partial body leaves as it is
 * @throws Refusal 400 `VALIDATION` with every fault and its path, in the sender's own spelling
 */
export function readBody<T extends object>(
  dto: ClassConstructor<T>,
  raw: unknown,
  spelling: Spelling = 'any',
  more: (body: T) => Fault[] = () => [],
  complete: (given: Record<string, unknown>) => Record<string, unknown> = (given) => given,
): T {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw Refusal.validation([{ path: '', message: 'a JSON object is wanted' }]);
  refuseDepth(raw);
  const unfit = rawFaults(raw);
  if (unfit.length > 0) throw Refusal.validation(unfit);
  const cased =
    spelling === 'any' ? toCamelCase(raw) : { body: raw, spelling: new Map<string, string>(), faults: [] };
  const body = plainToInstance(dto, complete(cased.body as Record<string, unknown>), { exposeDefaultValues: true });
  const errors = validateSync(body, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
  });
  const shape = faultsOf(errors).map((fault) => ({ ...fault, path: respell(fault.path, cased.spelling) }));
  const meaning = askMeaning(() => more(body), shape.length > 0)
    .map((fault) => ({ ...fault, path: respell(fault.path, cased.spelling) }))
    .filter(({ path }) => !shape.some((fault) => path.startsWith(fault.path)));
  const faults = [...cased.faults, ...shape, ...meaning];
  if (faults.length > 0) throw Refusal.validation(faults);
  return body;
}

/** @throws Refusal 400 for a body that nests deeper than 32 levels */
export function refuseDepth(raw: unknown): void {
  if (depthOf(raw) > MAX_DEPTH)
    throw Refusal.validation([{ path: '', message: `is nested deeper than ${MAX_DEPTH} levels` }]);
}

/** A body of the wrong shape can make the questions about its meaning fail: the faults of its shape are told then. */
function askMeaning(ask: () => Fault[], misshapen: boolean): Fault[] {
  try {
    return ask();
  } catch (error) {
    if (misshapen) return [];
    throw error;
  }
}

function faultsOf(errors: readonly ValidationError[], parent = ''): Fault[] {
  return errors.flatMap((error) => {
    // An element that is no object has no property of its own to be named.
    if (error.property === undefined) return [{ path: parent, message: 'must be an object' }];
    const index = /^\d+$/.test(error.property);
    const path = index
      ? `${parent}[${error.property}]`
      : parent === ''
        ? error.property
        : `${parent}.${error.property}`;
    const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
      path,
      message: rule === 'whitelistValidation' ? 'is not a known key' : clean(message, error.property),
    }));
    // A missing value breaks every rule of its key at once: one of them says enough.
    const told = error.value === undefined && own.length > 1 ? [{ path, message: 'is required' }] : own;
    return [...told, ...faultsOf(error.children ?? [], path)];
  });
}

/** class-validator writes the key into its messages; the path has it already. */
function clean(message: string, property: string): string {
  return message.replace(new RegExp(`^(each value in )?(nested property )?${escape(property)} `), '$1');
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function respell(path: string, spelling: ReadonlyMap<string, string>): string {
  return spelling.size === 0 ? path : path.replace(/[A-Za-z0-9_]+/g, (key) => spelling.get(key) ?? key);
}

function depthOf(root: unknown): number {
  let depth = 0;
  let level: unknown[] = [root];
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
    depth += 1;
  }
  return depth;
}
