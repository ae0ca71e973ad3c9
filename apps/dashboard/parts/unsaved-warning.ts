import { useEffect } from 'react';
import { useBlocker } from 'react-router';

/** Asks before the member leaves the page with unsaved changes. */
export function useUnsavedWarning(isUnsaved: () => boolean): void {
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    return isUnsaved() && currentLocation.pathname !== nextLocation.pathname;
  });
  useEffect(() => {
    if (blocker.state !== 'blocked') return;
    if (window.confirm('Leave the page? Your changes are not saved.')) blocker.proceed();
    else blocker.reset();
  }, [blocker]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (isUnsaved()) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  });
}
