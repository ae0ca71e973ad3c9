const armed = parse(process.env.EARSHOT_FAILPOINT);
let hits = 0;

/**
 * A named point in the code at which the crash tests end the process with SIGKILL. Does nothing unless
 * `EARSHOT_FAILPOINT=<name>:<n>` was set at the start: then the n-th call for the name kills the process. Without
 * `:<n>`, the first call does.
 */
export function failpoint(name: string): void {
  if (armed?.name !== name) return;
  hits += 1;
  if (hits === armed.at) process.kill(process.pid, 'SIGKILL');
}

function parse(setting: string | undefined): { name: string; at: number } | undefined {
  if (!setting) return undefined;
  const [name = '', at = '1'] = setting.split(':');
  return { name, at: Number(at) };
}
