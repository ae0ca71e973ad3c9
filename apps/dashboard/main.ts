import '@mantine/core/styles.css';
import './shell/base.css';
import { sessionOptions } from './api/auth.js';
import { queries } from './api/queries.js';
import { beginFirstPage } from './pages/feed/first-page.js';
import { reloadAfterRelease } from './shell/new-release.js';

/** Pages that need no session. */
const OPEN_PAGES = ['/sign-in', '/sign-up', '/reset-password'];

reloadAfterRelease();

// The browser can keep a page that the member has left, and show it again after “Back” without asking the gateway: for
// example the settings with the signing secret after the sign-out.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

// The data of the first view is requested while the code of the page is loading.
const { pathname, search } = location;
if (!OPEN_PAGES.includes(pathname)) void queries.prefetchQuery(sessionOptions);
if (pathname === '/feed' || pathname === '/') {
  beginFirstPage(search);
  void import('./pages/feed/index.js');
}
void import('./app.js');
