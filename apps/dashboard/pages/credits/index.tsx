import { Page } from '../../parts/page.js';
import { AuditVerdict } from './audit.js';
import { Balance } from './balance.js';
import { Ledger } from './ledger.js';
import { Quoted } from './quoted.js';
import { Usage } from './usage.js';

/** The balance of the account, its usage, and every movement. */
export function Component() {
  return (
    <Page
      title="Credits"
      lead="You can see the price of checks, readings and questions before they run. The ledger has a line for each charge."
    >
      <Balance />
      <Usage />
      <Quoted />
      <AuditVerdict />
      <Ledger />
    </Page>
  );
}
