import { api } from '../api/client.js';

/** The address of this script. Each release that changes the dashboard changes the address. */
const BUILD = import.meta.url;
const KEY = 'earshot-reloaded';

/**
 * From now on, reloads the page if a file is missing. A release replaces the files, so a page that was opened before
 * the release cannot load the other files of its release. The page reloads itself only once for each build. If a file
 * is missing again, the page reports the failure.
 */
export function reloadAfterRelease(): void {
  window.addEventListener('vite:preloadError', () => void reloadOnce());
}

async function reloadOnce(): Promise<void> {
  if (sessionStorage.getItem(KEY) === BUILD) return;
  // If the gateway does not answer, a reload would show an error of the browser instead of the page.
  if (!(await api.get('/v1/auth/options').catch(() => undefined))) return;
  sessionStorage.setItem(KEY, BUILD);
  location.reload();
}
