import { api } from '../api/client.js';

/** The script of this build. Each release gives it another name. */
const BUILD = import.meta.url;
const KEY = 'earshot-reloaded';

/**
 * A release replaces the files of the page, so files that an open page has not loaded yet are missing. Such a page
 * reloads itself once for each build. If a file is missing again, the page reports the failure.
 */
export function reloadAfterRelease(): void {
  window.addEventListener('vite:preloadError', () => void reloadOnce());
}

async function reloadOnce(): Promise<void> {
  if (sessionStorage.getItem(KEY) === BUILD) return;
  // Without the gateway, a reload would show an error of the browser instead of the page.
  if (!(await api.get('/v1/auth/options').catch(() => undefined))) return;
  sessionStorage.setItem(KEY, BUILD);
  location.reload();
}
