import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { api, EarshotError } from '../../api/client.js';
import { sessionEnded, useSessionState } from '../../api/session.js';
import type { ApiFilters } from './feed-filters.js';
import { feedMention, type FeedMention } from './feed-mention.js';
import { missedMentions } from './missed-mentions.js';

export type LiveState = 'connecting' | 'live' | 'lost';

/** More than this is read as a list again, not kept. */
const MOST_FRESH = 2000;
const RESTART_MS = 5000;
/** The list contains a mention that was published before the stream began at most half a second later. */
const LIST_LAG_MS = 2000;

interface List {
  known: ReadonlySet<string>;
  /** Reads the list again from its beginning. @returns whether that succeeded */
  readAgain: () => Promise<boolean>;
}

/**
 * New mentions of the filters, as they arrive. After a break, and after a new sign-in, the stream continues behind the
 * last mention, so nothing is missing.
 * @param list what was read before the stream began
 * @returns the new ones, the newest first, and the state of the connection
 */
export function useLiveMentions(query: ApiFilters, isEnabled: boolean, list: List) {
  const [fresh, setFresh] = useState<{ of: ApiFilters; mentions: readonly FeedMention[] }>({
    of: query,
    mentions: NONE,
  });
  const [state, setState] = useState<LiveState>('connecting');
  const [restarts, setRestarts] = useState(0);
  const { hasEnded } = useSessionState();
  /** The place behind which the stream continues. `isWhole` once nothing is missing between it and the list. */
  const place = useRef<{ of: ApiFilters; id: string; isWhole: boolean }>(undefined);
  const mentions = fresh.of === query ? fresh.mentions : NONE;

  const add = (found: readonly FeedMention[]) =>
    setFresh((before) => {
      const known = before.of === query ? before.mentions : NONE;
      const ids = new Set(known.map(({ id }) => id));
      return { of: query, mentions: [...found.filter(({ id }) => !ids.has(id)), ...known] };
    });
  const readAgain = useEffectEvent(async () => {
    const kept = mentions.length;
    if (!(await list.readAgain())) return;
    setFresh((now) => (now.of === query ? { ...now, mentions: now.mentions.slice(0, -kept) } : now));
  });
  const readMissed = useEffectEvent(async (signal: AbortSignal) => {
    const { mentions: missed, isComplete } = await missedMentions(query, list.known, MOST_FRESH, signal);
    if (isComplete) add(missed);
    else if (!(await list.readAgain())) throw new Error('the list cannot be read');
    if (place.current?.of === query) place.current.isWhole = true;
  });
  const follow = useEffectEvent(async (signal: AbortSignal) => {
    const from = place.current?.of === query ? place.current : { of: query, id: '', isWhole: false };
    place.current = from;
    let isReadingMissed = false;
    const onOpen = (id: string) => {
      from.id = id;
      setState('live');
      if (from.isWhole || isReadingMissed) return;
      isReadingMissed = true;
      void repeated(() => readMissed(signal), signal);
    };
    const { since: _since, until: _until, mode: _mode, ...filters } = query;
    const options = { lastEventId: from.id, signal, onOpen, onReconnect: () => setState('lost') };
    for await (const { id, mention } of api.stream(filters, options)) {
      from.id = id;
      add([feedMention(mention)]);
    }
  });

  useEffect(() => {
    if (!isEnabled || hasEnded) return;
    const stop = new AbortController();
    let timer: number | undefined;
    follow(stop.signal).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      setState('lost');
      if (error instanceof EarshotError && error.status === 401) return sessionEnded();
      // The place is not one of this stream, for example after a restore: the next stream begins now.
      if (error instanceof EarshotError && error.status === 400) place.current = undefined;
      timer = window.setTimeout(() => setRestarts((count) => count + 1), RESTART_MS);
    });
    return () => {
      clearTimeout(timer);
      stop.abort();
      setState((before) => (before === 'live' ? 'connecting' : before));
    };
  }, [query, isEnabled, hasEnded, restarts]);

  const isFull = mentions.length >= MOST_FRESH;
  useEffect(() => {
    if (isFull) void readAgain();
  }, [isFull]);
  return { fresh: mentions, state };
}

const NONE: readonly FeedMention[] = [];

/** Runs a reading after the lag of the list, and again until it succeeds. */
async function repeated(read: () => Promise<void>, signal: AbortSignal): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, LIST_LAG_MS));
  while (
    !signal.aborted &&
    !(await read().then(
      () => true,
      () => false,
    ))
  );
}
