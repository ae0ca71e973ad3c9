import { useEffect, useState } from 'react';

/**
 * What a link carries in its fragment, `#email=…&code=…`: browsers do not send it, so no log contains it. It is removed
 * from the address bar once it has been read.
 */
export function useFragment(): URLSearchParams {
  const [given] = useState(() => new URLSearchParams(location.hash.slice(1)));
  useEffect(() => {
    if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  }, []);
  return given;
}
