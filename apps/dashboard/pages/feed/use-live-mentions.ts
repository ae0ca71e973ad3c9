import { focusManager } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from 'react';
import { api, EarshotError } from '../../api/client.js';
import { sessionEnded, useSessionState } from '../../api/session.js';
import type { ApiFilters } from './feed-filters.js';
import { feedMention, type FeedMention } from './feed-mention.js';

/** The state of the connection to the stream. */
export type LiveState = 'connecting' | 'live' | 'lost';

/** After this number of new mentions, the list is read again, and the new mentions are removed from memory. */
const MAX_FRESH = 2000;
const RESTART_MS = 5000;

interface List {
  /** A position in the stream. Mentions that arrive after the list was read have a later position. */
  lastEventId: string | undefined;
  /** Reads the list again from its beginning. @returns the position of the list; undefined if it cannot be read */
  readAgain: () => Promise<string | undefined>;
}

/**
 * Receives new mentions that match the filters. The stream begins at the position of the list. It stops at an
 * interruption, at the end of the session, and while the page is hidden. It then continues at the position of the last
 * mention that it sent, so no mention is missing. The stream can send mentions that the list already contains.
 * @param list the list that was read before the stream began
 * @returns the new mentions, the newest first, and the state of the connection
 */
export function useLiveMentions(query: ApiFilters, isEnabled: boolean, list: List) {
  const [fresh, setFresh] = useState<{ of: ApiFilters; mentions: readonly FeedMention[] }>({
    of: query,
    mentions: NONE,
  });
  const [state, setState] = useState<LiveState>('connecting');
  const [restarts, setRestarts] = useState(0);
  const { hasEnded } = useSessionState();
  // With HTTP/1.1, a browser opens at most six connections to a host. So a hidden page closes its connection.
  const isShown = useSyncExternalStore(subscribeToFocus, () => focusManager.isFocused());
  /**
   * The position after which the stream continues. If `id` is undefined, the list is read again to get the position.
   */
  const position = useRef<{ of: ApiFilters; id: string | undefined }>(undefined);
  const mentions = fresh.of === query ? fresh.mentions : NONE;

  const add = (found: readonly FeedMention[]) =>
    setFresh((before) => {
      const known = before.of === query ? before.mentions : NONE;
      const ids = new Set(known.map(({ id }) => id));
      return { of: query, mentions: [...found.filter(({ id }) => !ids.has(id)), ...known] };
    });
  const readAgain = useEffectEvent(async () => {
    const kept = mentions.length;
    if ((await list.readAgain()) === undefined) return;
    setFresh((now) => (now.of === query ? { ...now, mentions: now.mentions.slice(0, -kept) } : now));
  });
  const readStream = useEffectEvent(async (signal: AbortSignal) => {
    const from = position.current?.of === query ? position.current : { of: query, id: list.lastEventId };
    position.current = from;
    const lastEventId = from.id ?? (await list.readAgain());
    if (lastEventId === undefined) throw new Error('the position of the list is not known');
    const { since: _since, until: _until, mode: _mode, ...filters } = query;
    const onOpen = (id: string) => {
      from.id = id;
      setState('live');
    };
    const options = { lastEventId, signal, onOpen, onReconnect: () => setState('lost') };
    for await (const { id, mention } of api.stream(filters, options)) {
      from.id = id;
      add([feedMention(mention)]);
    }
  });

  useEffect(() => {
    if (!isEnabled || hasEnded || !isShown) return;
    const stop = new AbortController();
    let timer: number | undefined;
    readStream(stop.signal).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      setState('lost');
      if (error instanceof EarshotError && error.status === 401) return sessionEnded();
      // The API refuses the position, for example after a restore with another MASTER_KEY.
      if (error instanceof EarshotError && error.status === 400)
        position.current = { of: query, id: undefined };
      timer = window.setTimeout(() => setRestarts((count) => count + 1), RESTART_MS);
    });
    return () => {
      clearTimeout(timer);
      stop.abort();
      setState((before) => (before === 'live' ? 'connecting' : before));
    };
  }, [query, isEnabled, hasEnded, isShown, restarts]);

  const timesFull = Math.floor(mentions.length / MAX_FRESH);
  useEffect(() => {
    // If the list could not be read, it is read again when the number of mentions reaches the next multiple of `MAX_FRESH`.
    if (timesFull > 0) void readAgain();
  }, [timesFull]);
  return { fresh: mentions, state };
}

const NONE: readonly FeedMention[] = [];

const subscribeToFocus = (onChange: () => void) => focusManager.subscribe(onChange);
