/**
 * Variables that the stores' programs need. Other variables (sources' tokens, MASTER_KEY) are not passed on.
 */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH'] as const;

/** The environment of a store's process, or of a program that prepares a store. */
export function childEnvironment(own: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passedOn), ...own };
}
