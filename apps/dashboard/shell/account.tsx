import { useLater } from '../parts/use-later.js';
import { AccountCard } from './account-card.js';

/** The account's menu. The code of the menu is loaded on the first use. */
export function Account() {
  const [AccountMenu, request] = useLater(() => import('./account-menu.js'));
  return AccountMenu ? <AccountMenu /> : <AccountCard onClick={request} />;
}
