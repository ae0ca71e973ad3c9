import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { checkout } from '#testing';

/** The path at which scripts/run.mjs installs the browser. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell';
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...[
    '--disable-component-update',
    '--disable-sync',
    '--disable-dev-shm-usage',
    '--disable-software-rasterizer',
  ],
];

/**
 * The folder of screenshots. Tests take screenshots only with `SCREENSHOTS=1`, because each takes a tenth of a
 * second.
 */
const SCREENSHOTS = fileURLToPath(new URL('dist-test/screenshots/', checkout));

/** A colour scheme of the pages. */
export type Theme = 'light' | 'dark';

/** Starts the browser. */
export const startChromium = (): Promise<Browser> =>
  // With the signal handlers of playwright, a signal would close the browsers, but would not end the process of the
  // tests.
  chromium.launch({
    ...{ executablePath: EXECUTABLE, args: FLAGS },
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });

/** A page with its own session, and the errors in its console. */
export interface BrowserPage {
  page: Page;
  faults: string[];
}

/** Prints a measured result, for the people who read the output. */
export const print = (line: string): boolean => process.stderr.write(`${line}\n`);

/** Opens an empty page with a new session. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    // Animations are off, because elements that move cannot be measured.
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  const page = await context.newPage();
  // A test fails if it waits more than 30 s for the page.
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // Messages about failed requests and about statuses of 400 or more are left out: tests provoke both.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return { page, faults };
}

/** The minified code of axe, which checks the accessibility of a page. It is half as large as `axe.source`. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules in `ALL_RULES` whose result depends on colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the serious and critical findings of axe in the page, as text, at most three for each rule. Returns an empty
 * list if there are none.
 * @param rules the ids or the tags of the rules that axe checks
 */
export async function seriousFindings(page: Page, rules = ALL_RULES): Promise<string[]> {
  if (await page.evaluate('!globalThis.axe')) await page.evaluate(AXE);
  await transitionsEnded(page);
  const found = await page.evaluate(async (runOnly) => {
    const { axe: engine } = globalThis as unknown as { axe: typeof axe };
    return engine.run({ runOnly, resultTypes: ['violations'] });
  }, rules);
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

/** Waits until no colour is changing, for example after a change of the theme. */
async function transitionsEnded(page: Page): Promise<void> {
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished)).then(() => {})`);
}

/**
 * Returns the serious and critical findings of a page with the light and with the dark theme. The page follows the
 * system's theme without a reload.
 * @param onTheme called when the page has this theme
 */
export async function findingsInBothThemes(
  page: Page,
  onTheme: (theme: Theme) => Promise<void> = async () => {},
): Promise<string[]> {
  await onTheme('light');
  const found = await seriousFindings(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  await onTheme('dark');
  // Only colours differ, so only the rules about colours are checked again.
  found.push(...(await seriousFindings(page, COLOURS)));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.locator('html[data-mantine-color-scheme=light]').waitFor();
  return found;
}

/**
 * Takes a picture of the visible part. A picture of the whole page resizes the page twice, and takes several
 * times as long.
 */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}.jpg`, quality: 80 });
}
