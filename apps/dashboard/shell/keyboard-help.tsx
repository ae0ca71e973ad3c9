import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router';
import { isTyping } from '../parts/shortcuts.js';
import { useLater } from '../parts/use-later.js';
import { NAVIGATION } from './navigation.js';

const OPEN = 'earshot:keyboard-help';

/** Opens the list of shortcuts. */
export const showKeyboardHelp = () => window.dispatchEvent(new Event(OPEN));

/** How long the next key after `g` is awaited. */
const SEQUENCE_MS = 1500;

/** Shows the list of shortcuts when `?` is pressed, and opens a page when `g` and its letter are pressed. */
export function KeyboardHelp() {
  const [isOpen, setOpen] = useState(false);
  const [ShortcutList, request] = useLater(() => import('./shortcut-list.js'));
  usePageKeys(() => {
    setOpen(true);
    request();
  });
  return isOpen && ShortcutList && <ShortcutList close={() => setOpen(false)} />;
}

function usePageKeys(showHelp: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let since = -Infinity;
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === '?') showHelp();
      const entry = NAVIGATION.flatMap(({ entries }) => entries).find(({ key }) => key === event.key);
      if (entry && event.timeStamp - since < SEQUENCE_MS) {
        // The event is stopped, because otherwise the letter would also be a shortcut of the page.
        event.stopImmediatePropagation();
        void navigate(entry.to);
      }
      since = event.key === 'g' ? event.timeStamp : -Infinity;
    };
    window.addEventListener('keydown', press, { capture: true });
    window.addEventListener(OPEN, showHelp);
    return () => {
      window.removeEventListener('keydown', press, { capture: true });
      window.removeEventListener(OPEN, showHelp);
    };
  });
}
