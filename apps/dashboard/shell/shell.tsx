import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense, useEffect, useLayoutEffect } from 'react';
import { Link, Outlet, useLocation, useNavigation, useNavigationType } from 'react-router';
import { Account } from './account.js';
import { KeyboardHelp } from './keyboard-help.js';
import { Logo } from './logo.js';
import { Navigation } from './navigation-links.js';
import classes from './shell.module.css';

/** Shows the frame of the pages for which a member must sign in. */
export function Shell() {
  const [isOpen, menu] = useDisclosure(false);
  const { pathname } = useLocation();
  const { state } = useNavigation();
  const { close } = menu;
  useEffect(close, [pathname, close]);
  useTopOfNewPage(pathname);
  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 52, md: 0 } }}
      navbar={{ width: 236, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding={0}
    >
      <a href="#main" className="skip-link">
        Skip to content
      </a>
      <AppShell.Header hiddenFrom="md" className={classes.header}>
        <Group h="100%" px="md" justify="space-between">
          <Link to="/feed" className={classes.brand} aria-label="Earshot, to the feed">
            <Logo />
          </Link>
          <Burger
            opened={isOpen}
            onClick={menu.toggle}
            size="sm"
            aria-label="Navigation"
            aria-expanded={isOpen}
          />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label="Main">
        <AppShell.Section p="md" pb="xs">
          <Group justify="space-between">
            <Link to="/feed" className={classes.brand} aria-label="Earshot, to the feed">
              <Logo />
            </Link>
            <Burger
              hiddenFrom="md"
              opened={isOpen}
              onClick={menu.toggle}
              size="sm"
              aria-label="Close navigation"
            />
          </Group>
        </AppShell.Section>
        <AppShell.Section grow px="xs" className={classes.entries}>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section p="xs" className={classes.foot}>
          <Account />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} className={classes.main}>
        {state === 'loading' && (
          <div className={classes.progress} role="progressbar" aria-label="Loading the page" />
        )}
        <Suspense>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <KeyboardHelp />
    </AppShell>
  );
}

/**
 * Scrolls to the top of a new page. Back and forward restore the scroll position. A change of a filter does not change
 * the scroll position.
 */
function useTopOfNewPage(pathname: string): void {
  const type = useNavigationType();
  useLayoutEffect(() => {
    if (type !== 'POP') window.scrollTo(0, 0);
    // Only the path counts: a new query string, such as another filter, does not scroll.
  }, [pathname]);
}
