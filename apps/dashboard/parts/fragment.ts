import { useEffect, useState } from 'react';

/**
 * Reads the values in the fragment of a link, `#email=…&code=…`, and removes the fragment from the address bar.
 * Browsers do not send fragments, so no log contains them.
 */
export function useFragment(): URLSearchParams {
  const [given] = useState(() => new URLSearchParams(location.hash.slice(1)));
  useEffect(() => {
    if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  }, []);
  return given;
}
