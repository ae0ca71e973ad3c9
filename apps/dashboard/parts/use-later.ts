import { useState, type ComponentType } from 'react';
import { EarshotConnectionError } from '../api/client.js';
import { notifyFailure } from './notify.js';

/**
 * Loads the code of a part of the page on demand. If this fails, for example without a network, the page and the text
 * that the member has typed stay, and the next request tries again. With `lazy`, the failure would replace the page.
 * @returns the component, undefined until it is loaded; and a function that requests it
 */
export function useLater<P>(load: () => Promise<{ default: ComponentType<P> }>) {
  const [Part, setPart] = useState<ComponentType<P>>();
  const request = () => {
    load().then(
      ({ default: loaded }) => setPart(() => loaded),
      (cause: unknown) => notifyFailure('This cannot be opened', new EarshotConnectionError('', { cause })),
    );
  };
  return [Part, request] as const;
}
