import type { Installation } from './installation.js';
export async function startDemo(_env: NodeJS.ProcessEnv, _say: (line: string) => void): Promise<Installation> { throw new Error('soon'); }
