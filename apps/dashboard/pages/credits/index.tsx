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
      lead="Every check, reading and question has a price before it runs and a line in the ledger after it."
    >
      <Balance />
      <Usage />
      <Quoted />
      <AuditVerdict />
      <Ledger />
    </Page>
  );
}
