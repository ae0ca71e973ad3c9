import { keywordChangeTools } from './keyword-change-tools.js';
import type { ToolContext } from './tool.js';

it('update_keyword computes the credits of the first day itself if an older keywords service returns no startCredits', async () => {
  const bySearch = [{ creditsPerCheck: 2 }, { creditsPerCheck: 1 }];
  const estimate = { monthlyCredits: 60, firstScanCredits: 10, bySearch };
  const keyword = { id: 'k', name: 'Acme', monthlyCredits: 60 };
  const counted: number[] = [];
  const context = {
    caller: { accountId: 'a', by: { kind: 'key', id: 'k', mcpDailyCredits: null } },
    routes: {
      keywords: { read: () => Promise.resolve({ ...keyword, monthlyCredits: 30 }) },
      keywordCreate: { estimateKeyword: () => Promise.resolve({ valid: true, estimate }) },
      keywordChange: { changeKeyword: () => Promise.resolve({ ...keyword, resetSearches: [] }) },
    },
    spending: {
      spend: (_: unknown, credits: number, work: () => Promise<unknown>) => {
        counted.push(credits);
        return work();
      },
    },
  };
  const update = keywordChangeTools.find(({ name }) => name === 'update_keyword');
  await update?.run(context as unknown as ToolContext, { id: 'k', changes: {} });
  expect(counted).toEqual([30 / 30 + 10 + 3]);
});
