import { createBrowserRouter, Navigate, type RouteObject } from 'react-router';
import { PageError } from './shell/page-error.js';
import { SignedIn } from './shell/signed-in.js';

/** Loads the folder of a page. The index file of the folder exports `Component`. */
type Page = () => Promise<{ Component: React.ComponentType }>;

/** Returns the route of a page, which is loaded on demand. */
const page = (path: string, load: Page): RouteObject => ({
  path,
  lazy: () => load().catch(failingPage),
  ErrorBoundary: PageError,
});

/**
 * Returns a page that throws when it is rendered, so that PageError is shown. It replaces a page that could not be
 * loaded. Otherwise the router would show an empty page if the first page of a visit could not be loaded.
 */
const failingPage = (error: unknown) => ({
  Component(): never {
    throw error;
  },
});

/** Pages that need no session. */
const OPEN: RouteObject[] = [
  page('sign-in', () => import('./pages/sign-in/index.js')),
  page('sign-up', () => import('./pages/sign-up/index.js')),
  page('reset-password', () => import('./pages/reset-password/index.js')),
];

/** Pages that need a session. `SignedIn` shows each of them beside the navigation. */
const PAGES: RouteObject[] = [
  { index: true, element: <Navigate to="/feed" replace /> },
  page('start', () => import('./pages/start/index.js')),
  page('feed', () => import('./pages/feed/index.js')),
  page('keywords', () => import('./pages/keywords/index.js')),
  page('keywords/new', () => import('./pages/keyword-editor/index.js')),
  page('keywords/:id', () => import('./pages/keyword/index.js')),
  page('keywords/:id/edit', () => import('./pages/keyword-editor/index.js')),
  page('keywords/:id/coverage', () => import('./pages/coverage/index.js')),
  page('keywords/:id/rules', () => import('./pages/rules/index.js')),
  page('explore', () => import('./pages/explore/index.js')),
  page('answers', () => import('./pages/answers/index.js')),
  page('vinted', () => import('./pages/vinted/index.js')),
  page('channels', () => import('./pages/channels/index.js')),
  page('digests', () => import('./pages/digests/index.js')),
  page('deliveries', () => import('./pages/deliveries/index.js')),
  page('credits', () => import('./pages/credits/index.js')),
  page('sources', () => import('./pages/sources/index.js')),
  page('settings', () => import('./pages/settings/index.js')),
  page('settings/:section', () => import('./pages/settings/index.js')),
  page('*', () => import('./pages/not-found/index.js')),
];

/** The router of the dashboard. */
export const router = createBrowserRouter([
  { ErrorBoundary: PageError, hydrateFallbackElement: <></>, children: OPEN },
  { element: <SignedIn />, ErrorBoundary: PageError, hydrateFallbackElement: <></>, children: PAGES },
]);
