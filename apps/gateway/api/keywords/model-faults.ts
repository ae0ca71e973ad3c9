import type { Fault } from '#kernel';

/** The reason of a refusal if the request needs a language model. */
export const MODEL_NEEDED =
  'needs a language model, and this installation has none: set LLM_URL and LLM_MODEL';

/** Keys of the body that can need a language model, in camelCase. */
interface WithModel {
  aiStep?: unknown;
  aiPreset?: unknown;
}

/**
 * Returns a fault for each key that needs a language model, if the installation has none. A create with a fault is
 * refused. A change is refused if the change gives the key another value. A stored keyword shows the fault as a
 * warning.
 */
export function modelFaults({ aiStep, aiPreset }: WithModel, hasModel: boolean): Fault[] {
  if (hasModel) return [];
  return [
    ...(aiStep ? [{ path: 'aiStep', message: MODEL_NEEDED }] : []),
    ...(aiPreset === 'custom' ? [{ path: 'aiPreset', message: `"custom" ${MODEL_NEEDED}` }] : []),
  ];
}

/** Returns the fault of a watch with an agent step, if the installation has no language model. */
export function watchModelFaults({ ai }: { ai?: unknown }, hasModel: boolean): Fault[] {
  return ai && !hasModel ? [{ path: 'ai', message: MODEL_NEEDED }] : [];
}
