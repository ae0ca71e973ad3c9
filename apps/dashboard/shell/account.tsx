import { lazy, Suspense, useState } from 'react';
import { AccountCard } from './account-card.js';

const AccountMenu = lazy(() => import('./account-menu.js'));

/** The account's menu. The code of the menu is loaded on the first use. */
export function Account() {
  const [isWanted, setWanted] = useState(false);
  if (!isWanted) return <AccountCard onClick={() => setWanted(true)} />;
  return (
    <Suspense fallback={<AccountCard />}>
      <AccountMenu />
    </Suspense>
  );
}
