import { useEffect, useState } from 'react';
import { exactTime, relativeTime } from './format.js';
import classes from './time.module.css';

/** How often the text is computed again: twice a minute is enough for “5 min. ago”. */
const TICK_MS = 30_000;

interface Props {
  /** ISO 8601; null if there is no time. */
  at: string | null | undefined;
  /** Shown if there is no time. */
  none?: string;
  /** The text for less than a minute. Set for planned times; the default “just now” fits only past times. */
  near?: string;
  /** True to show the exact time instead of “5 min. ago”. */
  exact?: boolean;
}

/** Shows a time as “5 min. ago” or “in 2 hr.”. On hover and focus, shows the exact time in the viewer's zone. */
export function Time({ at, none = '–', near, exact = false }: Props) {
  const now = useNow();
  if (!at) return <span>{none}</span>;
  const precise = exactTime(at);
  if (exact) return <time dateTime={at}>{precise}</time>;
  return (
    <time dateTime={at} tabIndex={0} data-exact={precise} className={classes.time}>
      {relativeTime(at, now, near)}
    </time>
  );
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
