import { create } from '@bufbuild/protobuf';
import { BacktestPageSchema } from '#contracts';
import { testedView, type TestedItem } from './tested-item.js';

/** Maximum size of the items in a reply, which must fit into one message. A single item can be larger. */
const MAX_REPLY_BYTES = 700_000;
/** After this time, a page ends with the items that have been found. */
const MAX_SEARCH_MS = 1_500;

/**
 * Collects a page of items. `nextAt` and `nextId` of the last page are empty.
 * @param found all items after the position of the page, in order
 * @param onlyFired true: only items for which a tested rule fires, or a rule fired when the mention was stored
 */
export async function backtestPage(found: AsyncIterable<TestedItem>, limit: number, onlyFired: boolean) {
  const deadline = Date.now() + MAX_SEARCH_MS;
  const views: string[] = [];
  let bytes = 0;
  let last: TestedItem['row'] | undefined;
  for await (const item of found) {
    const view = onlyFired && !changesSomething(item) ? '' : JSON.stringify(testedView(item));
    bytes += Buffer.byteLength(view);
    const isFull = views.length === limit || (views.length > 0 && bytes > MAX_REPLY_BYTES);
    if (last && (isFull || Date.now() > deadline)) return pageOf(views, last);
    if (view !== '') views.push(view);
    last = item.row;
  }
  return pageOf(views, undefined);
}

const pageOf = (views: readonly string[], last: TestedItem['row'] | undefined) =>
  create(BacktestPageSchema, {
    itemsJson: `[${views.join(',')}]`,
    nextAt: last?.occurred_at ?? '',
    nextId: last?.event_id ?? '',
  });

function changesSomething({ rules, removed }: TestedItem): boolean {
  return removed.length > 0 || rules.some(({ fired }) => fired);
}
