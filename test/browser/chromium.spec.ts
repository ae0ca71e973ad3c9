import type { Browser } from 'playwright-core';
import { findingsInBothThemes, openPage, startChromium } from './chromium.js';

let browser: Browser;

beforeAll(async () => {
  browser = await startChromium();
}, 60_000);
afterAll(() => browser?.close());

/** A page without findings that follows the theme of the system, with additional styles for one theme. */
const pageWith = (theme: string, styles: string) => `<!doctype html><html lang="en"><title>A page</title>
<style>
  body { color: #111; background: #fff }
  a { color: inherit }
  @media (prefers-color-scheme: ${theme}) { ${styles} }
</style>
<main><h1>A page</h1><p>These words are around <a href="/">a link</a> in a text.</p></main>
<script>
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => { document.documentElement.dataset.mantineColorScheme = dark.matches ? 'dark' : 'light' };
  dark.onchange = follow;
  follow();
</script></html>`;

describe('the findings of a page in both themes', () => {
  it.each([
    ['light', 'color-contrast', 'p { color: #888 }'],
    ['dark', 'color-contrast', 'p { color: #888 }'],
    ['light', 'link-in-text-block', 'a { color: #333; text-decoration: none }'],
    ['dark', 'link-in-text-block', 'a { color: #333; text-decoration: none }'],
  ])('contain a fault that only the theme %s has: %s', async (theme, rule, styles) => {
    const { page } = await openPage(browser);
    await page.setContent(pageWith(theme, styles));
    const rules = (await findingsInBothThemes(page)).map((finding) => finding.split(':')[0]);
    expect([...new Set(rules)]).toEqual([rule]);
    await page.context().close();
  });

  it('are empty for a page without faults', async () => {
    const { page } = await openPage(browser);
    await page.setContent(pageWith('dark', ''));
    expect(await findingsInBothThemes(page)).toEqual([]);
    await page.context().close();
  });
});
