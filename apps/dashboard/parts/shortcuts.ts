import { useEffect, useRef } from 'react';

const FIELDS =
  'input, textarea, select, [contenteditable], [role="dialog"]:not([data-shortcuts]), [role="menu"]';

/**
 * Returns true if a pressed key must not be treated as a shortcut. The key is not a shortcut if other code has handled
 * it. It is also no shortcut if it belongs to a field, a menu, a dialog without `data-shortcuts`, a combination of
 * keys, or the input of a character.
 */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented)
    return true;
  const at = event.target;
  if (!(at instanceof Element)) return false;
  return at.closest(FIELDS) !== null;
}

/** Runs the function of a key while the component is shown: `{ j: next, '/': focusSearch }`. */
export function useShortcuts(shortcuts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const run = isTyping(event) ? undefined : latest.current[event.key];
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}
