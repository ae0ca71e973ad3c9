/**
 * Variables that the stores' programs need. Other variables (sources' tokens, MASTER_KEY) are not passed on.
 */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH'] as const;

/** Returns the environment for the process of a store, or for a program that prepares a store. */
export function childEnvironment(own: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passedOn), ...own };
}
