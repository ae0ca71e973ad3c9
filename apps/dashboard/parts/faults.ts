import type { UseFormReturnType } from '@mantine/form';
import { EarshotError } from '../api/client.js';

/** Returns the path of the form for a path of the API: `sources.0.source` for `sources[0].source`. */
export const formPath = (path: string) => path.replace(/\[(\w+)\]/g, '.$1');

/**
 * Shows the faults of a refused request beside their fields. A fault without a path has no field.
 * @param rename returns the field of the form for a path of the request
 * @returns the paths of the faults that are shown
 */
export function showFaults<T extends object>(
  form: Pick<UseFormReturnType<T>, 'setErrors' | 'values'>,
  error: unknown,
  rename: (path: string) => string = formPath,
): string[] {
  if (!(error instanceof EarshotError)) return [];
  const placed = error.details.filter(({ path }) => path !== '');
  form.setErrors(Object.fromEntries(placed.map(({ path, message }) => [rename(path), message])));
  return placed.map(({ path }) => path);
}

/**
 * Returns the paths of the faults that the fields of a form show. Use it only for forms without nested fields whose
 * fields have the names of the API. The other faults must be shown elsewhere.
 */
export const shownPathsIn = <T extends object>({
  errors,
  values,
}: Pick<UseFormReturnType<T>, 'errors' | 'values'>): string[] =>
  Object.keys(errors).filter((path) => Object.hasOwn(values, path));
