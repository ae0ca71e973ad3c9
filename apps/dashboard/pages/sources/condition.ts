import type { SourceState } from '../../api/types.js';

/** The text and the colour of the badge of a source. */
export interface Condition {
  text: string;
  colour: 'gray' | 'teal' | 'red';
}

/** Returns the badge of a source. A source is called healthy only after a successful check. */
export function conditionOf(
  source: Pick<SourceState, 'configured' | 'enabled' | 'healthy' | 'lastSuccessAt'>,
): Condition {
  if (!source.configured) return { text: 'Not configured', colour: 'gray' };
  if (!source.enabled) return { text: 'Off', colour: 'gray' };
  if (!source.healthy) return { text: 'Not healthy', colour: 'red' };
  return source.lastSuccessAt === null
    ? { text: 'Not asked yet', colour: 'gray' }
    : { text: 'Healthy', colour: 'teal' };
}
