import { createHmac } from 'node:crypto';
import { masterKeys } from './secret-box.js';
import { SignedText } from './signed-text.js';

/** An address is valid as long as its report is kept. */
const VALID_MS = 90 * 24 * 3_600_000;
const SCOPE = 'report-page';

/**
 * Returns the keys that sign the addresses of reports, in the form of MASTER_KEY. They are derived from MASTER_KEY, so
 * that analysis can sign without the key that decrypts secrets.
 */
export function reportKeys(masterKey: string): string {
  return masterKeys(masterKey)
    .map((key) => createHmac('sha256', Buffer.from(key, 'hex')).update('reports').digest('hex'))
    .join(',');
}

/**
 * The addresses of the pages of weekly reports: anybody who has the address can read the report. An address is signed,
 * and expires 90 days after the report's period. Processes with the same keys create the same address for a report.
 * During a rotation of MASTER_KEY, addresses that either key has signed are valid.
 */
export class ReportAddresses {
  private readonly signed: SignedText;

  /**
   * @param keys what `reportKeys` returns
   * @param publicUrl `PUBLIC_URL`; if it is empty, an address is only a path
   */
  constructor(
    keys: string,
    private readonly publicUrl: string,
  ) {
    this.signed = new SignedText(keys, 'reports');
  }

  /** Returns the address of the page of a report. @param periodTo the end of the report's period in ms */
  urlOf(reportId: string, periodTo: number): string {
    const token = this.signed.write(SCOPE, [reportId, periodTo + VALID_MS]);
    return `${this.publicUrl.replace(/\/+$/, '')}/reports/${token}`;
  }

  /**
   * Returns the id of the report of an address.
   * @param token the last part of an address
   * @returns undefined if the address was changed, or is not valid any more
   */
  reportIdIn(token: string, nowMs: number): string | undefined {
    const read = this.signed.read<[string, number]>(SCOPE, token);
    if (!read) return undefined;
    const [reportId, until] = read;
    return until < nowMs ? undefined : reportId;
  }
}
