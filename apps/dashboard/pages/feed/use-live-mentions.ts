import { useEffect, useState } from 'react';
import { readSession } from '../../api/auth.js';
import { EarshotError } from '../../api/client.js';
import { sessionEnded } from '../../api/session.js';
import type { Mention } from '../../api/types.js';
import type { ApiFilters } from './feed-filters.js';
import { feedMention, type FeedMention } from './feed-mention.js';

export type LiveState = 'connecting' | 'live' | 'lost';

/** More than this is read as a list again, not kept. */
const MOST_FRESH = 500;
const RECONNECT_MS = 5000;

/**
 * New mentions of the filters, as they arrive. After a break the browser connects again and continues behind the last
 * mention.
 * @returns the new ones, the newest first, and the state of the connection
 */
export function useLiveMentions(query: ApiFilters, isEnabled: boolean) {
  const [fresh, setFresh] = useState<{ of: ApiFilters; mentions: readonly FeedMention[] }>({
    of: query,
    mentions: [],
  });
  const [state, setState] = useState<LiveState>('connecting');
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!isEnabled) return;
    const stream = new EventSource(streamAddress(query));
    let timer: number | undefined;
    stream.onopen = () => setState('live');
    stream.onerror = () => {
      setState('lost');
      if (stream.readyState !== EventSource.CLOSED) return;
      // The browser gives up after an error status. Whether the session has ended is asked by an ordinary request.
      readSession().catch((error: unknown) => {
        if (error instanceof EarshotError && error.status === 401) sessionEnded();
      });
      timer = window.setTimeout(() => setAttempt((count) => count + 1), RECONNECT_MS);
    };
    stream.addEventListener('mention', ({ data }: MessageEvent<string>) => {
      const mention = feedMention(JSON.parse(data) as Mention);
      setFresh((before) => {
        const known = before.of === query ? before.mentions : [];
        return { of: query, mentions: [mention, ...known].slice(0, MOST_FRESH) };
      });
    });
    return () => {
      clearTimeout(timer);
      stream.close();
    };
  }, [query, isEnabled, attempt]);
  return { fresh: fresh.of === query ? fresh.mentions : NONE, state };
}

const NONE: readonly FeedMention[] = [];

function streamAddress({ since: _since, until: _until, mode: _mode, ...filters }: ApiFilters): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  return `/v1/stream?${params}`;
}
