import { Ajv } from 'ajv';
import type { Checked } from '../reading.js';

const ajv = new Ajv({ allErrors: false, strict: true });

/**
 * Returns a function that checks an answer with a JSON schema of Earshot. Each call compiles the schema, so call this
 * function once for each schema.
 */
export function checkedBySchema<T>(schema: Record<string, unknown>): (answer: unknown) => Checked<T> {
  const validate = ajv.compile<T>(schema);
  return (answer) => {
    if (validate(answer)) return { value: answer };
    const { instancePath = '', message = 'is not valid' } = validate.errors?.[0] ?? {};
    return { fault: `"answer${instancePath.replaceAll('/', '.')}" ${message}` };
  };
}
