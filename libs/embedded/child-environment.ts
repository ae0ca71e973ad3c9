/** What programs need of their surroundings. Everything else of ours (sources' tokens, MASTER_KEY) stays with us. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH'] as const;

/** The environment of a store's process, or of a program that prepares one. */
export function childEnvironment(own: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passedOn), ...own };
}
