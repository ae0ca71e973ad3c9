import { useEffect, useEffectEvent, type RefObject } from 'react';
import { useCanEdit } from '../../api/session.js';
import type { Label } from '../../api/types.js';
import { isTyping, useShortcuts } from '../../parts/shortcuts.js';
import type { FeedMention } from './feed-mention.js';
import { toggleOf } from './labels.js';
import type { useChanges } from './use-changes.js';
import type { useFeed } from './use-feed.js';

interface Keys {
  lines: ReturnType<typeof useFeed>['lines'];
  chosenId: string | undefined;
  choose: (id: string | undefined) => void;
  close: () => void;
  changes: ReturnType<typeof useChanges>;
  search: RefObject<HTMLInputElement | null>;
  /** The open mention beside the list; null if there is none. */
  pane: RefObject<HTMLElement | null>;
  /** True if the open mention covers the search field. */
  isCovered: boolean;
}

/** The keys of the feed. */
export function useFeedKeys(keys: Keys): void {
  const { lines, chosenId, choose, close, changes, search, isCovered } = keys;
  const canEdit = useCanEdit();
  const chosenIndex = lines.findIndex(({ mention }) => mention.id === chosenId);
  const at = (index: number) => lines[Math.max(0, Math.min(index, lines.length - 1))]?.mention;
  const go = (mention: FeedMention | undefined) => mention && choose(mention.id);
  const toggleLabel = (label: Label) => {
    const chosen = chosenIndex < 0 ? undefined : at(chosenIndex);
    if (!chosen || !canEdit) return;
    const mention = changes.withChanges(chosen);
    changes.change(mention, { label: toggleOf(mention.labels, label) });
  };
  useShortcuts({
    j: () => go(at(chosenIndex + 1)),
    k: () => go(at(chosenIndex - 1)),
    e: () => toggleLabel('hidden'),
    s: () => toggleLabel('starred'),
    r: () => toggleLabel('to_reply'),
    f: () => toggleLabel('flagged'),
    '/': () => isCovered || search.current?.focus(),
    Escape: close,
  });
  useEnter(keys);
}

/**
 * Enter opens the mention of the focused row, and moves the focus into the open mention. Without this, a person without
 * a mouse would have to pass all rows to reach the open mention. Enter on other buttons and links keeps its meaning.
 */
function useEnter({ chosenId, choose, pane }: Pick<Keys, 'chosenId' | 'choose' | 'pane'>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Enter' || isTyping(event) || !(event.target instanceof HTMLElement)) return;
    const { target } = event;
    const isNothingFocused = target === document.body || target.role === 'feed';
    const id = target.dataset['mention'] ?? (isNothingFocused ? chosenId : undefined);
    if (id === undefined) return;
    event.preventDefault();
    choose(id);
    pane.current?.focus();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}

/** Moves the focus to the row of a mention, or to the list if the row is not rendered. */
export function focusRow(id: string): void {
  const list = document.querySelector<HTMLElement>('[role="feed"]');
  const row = list?.querySelector<HTMLElement>(`[data-mention="${CSS.escape(id)}"]`);
  (row ?? list)?.focus({ preventScroll: true });
}
