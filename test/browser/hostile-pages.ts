import type { Page } from 'playwright-core';
import { hostile, REPORT_TOKEN } from './hostile-fields.js';

/** A page that shows text of strangers, and the fields that it shows. */
interface HostilePage {
  path: string;
  fields: string[];
  /** Opens the parts that the page shows only on demand. */
  open?: (page: Page) => Promise<void>;
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** Returns the pages that show texts of strangers. */
export const hostilePages = (ids: { keywordId: string; mentionId: string }): HostilePage[] => [
  {
    path: `feed?keyword=${ids.keywordId}&include=dropped&mention=${ids.mentionId}`,
    fields: [
      ...['title', 'text', 'term', 'community', 'author', 'authorName', 'bucket', 'mute', 'fired', 'keyword'],
      ...[
        'untitled',
        'dropped by',
        'account',
        'field',
        'value',
        'seen',
        'model',
        'value of ai',
        'reason',
        'view',
        'co-brand',
      ],
    ],
    async open(page) {
      for (const name of [/^Rules: /, /^Agent step/, /^1 reading,/, 'Filters', 'Views'])
        await press(page, name);
    },
  },
  { path: 'keywords', fields: ['keyword', 'charged'] },
  { path: `keywords/${ids.keywordId}`, fields: ['keyword', 'label', 'author', 'community', 'term'] },
  { path: `keywords/${ids.keywordId}/edit`, fields: ['keyword', 'label'] },
  { path: `keywords/${ids.keywordId}/coverage`, fields: ['keyword', 'label', 'activity'] },
  { path: `keywords/${ids.keywordId}/rules`, fields: ['rule', 'clause'] },
  {
    path: `answers?keyword=${ids.keywordId}`,
    fields: ['keyword', 'prompt', 'answer', 'cited', 'engine model', 'answer brand'],
  },
  { path: `vinted?keyword=${ids.keywordId}`, fields: ['market', 'currency'] },
  {
    path: 'start',
    fields: ['found', 'poster'],
    async open(page) {
      await page.getByLabel('Brand, product or topic').fill('Umbra');
      await press(page, 'Continue');
      await press(page, /^Show me, for/);
    },
  },
  {
    path: 'explore',
    fields: ['found', 'poster'],
    async open(page) {
      await page.getByRole('textbox', { name: 'Words to search for' }).fill(hostile('found'));
      await press(page, 'Show the price');
      await press(page, /^Ask now for/);
    },
  },
  {
    path: 'explore?tab=analyses',
    fields: ['keyword', 'title'],
    async open(page) {
      await page.getByRole('combobox', { name: 'Keyword' }).click();
      await page.getByRole('option', { name: hostile('keyword') }).click();
      await press(page, /^Analyse for/);
      await page.getByRole('region', { name: 'Result' }).waitFor();
    },
  },
  { path: 'channels', fields: ['channel'] },
  { path: 'digests', fields: ['keyword', 'channel'] },
  { path: 'digests?tab=sent', fields: ['keyword', 'digest address'] },
  {
    path: `deliveries?keyword=${ids.keywordId}`,
    fields: ['keyword', 'webhook address', 'response'],
    async open(page) {
      const closed = page.getByRole('button', { name: 'Show the attempts' });
      await closed.nth(1).click();
      await closed.first().click();
    },
  },
  { path: 'digests?tab=reports', fields: ['keyword'] },
  // A page of the gateway, without the dashboard.
  { path: `reports/${REPORT_TOKEN}`, fields: ['keyword', 'top author', 'story', 'second story', 'alert'] },
  { path: 'deliveries?tab=endpoints', fields: ['endpoint', 'endpoint reason'] },
  { path: 'deliveries?tab=replays', fields: ['keyword'] },
  { path: 'credits', fields: ['charged'] },
  { path: 'settings', fields: ['account'] },
  { path: 'settings/keys', fields: ['key'] },
  { path: 'settings/security', fields: ['browser'] },
  { path: 'settings/audit-log', fields: ['body key'] },
];

/** Returns the fields that the page does not show. It shows a field if the exact text is on the page, or in an input. */
export async function missingIn(page: Page, fields: readonly string[]): Promise<string[]> {
  const shown = await page.evaluate<string>(
    `[document.body.textContent, ...Array.from(document.querySelectorAll('input, textarea'), (one) => one.value)].join(' ')`,
  );
  // A page that shows JSON contains the field in its JSON form.
  const forms = (field: string) => [hostile(field), JSON.stringify(hostile(field)).slice(1, -1)];
  return fields.filter((field) => !forms(field).some((form) => shown.includes(form)));
}

/**
 * Finds harm on the page: a script of an attacker that ran, elements that would run code, and links that are not http(s).
 * @returns one line for each finding
 */
export const harmIn = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const addresses = ['href', 'src', 'srcset', 'action', 'formaction', 'poster', 'data', 'xlink:href'];
    const isWeb = (address) => /^https?:$/.test(new URL(address, location).protocol);
    const found = 'hit' in globalThis ? ['a script of an attacker ran'] : [];
    for (const element of document.querySelectorAll('*'))
      for (const { name, value } of element.attributes)
        if (name.startsWith('on') || (addresses.includes(name) && !isWeb(value)))
          found.push(element.outerHTML.slice(0, 200));
    return found;
  })()`);

/**
 * Finds words that end outside of the window, and a page that scrolls sideways. Words with an ellipsis, and words in an
 * element that can be scrolled, do not count.
 * @returns one line for each finding
 */
export async function clippedTexts(page: Page): Promise<string[]> {
  // Moves the mouse away from charts: a chart shows a label next to the mouse.
  await page.mouse.move(0, 0);
  return page.evaluate<string[]>(`(() => {
    const isMeant = (element) => {
      const { overflowX, textOverflow } = getComputedStyle(element);
      return textOverflow === 'ellipsis' || overflowX === 'auto' || overflowX === 'scroll';
    };
    const lost = document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      if (range.getBoundingClientRect().right <= innerWidth + 1) continue;
      let element = text.parentElement;
      while (element && !isMeant(element)) element = element.parentElement;
      if (!element) lost.push(text.data.slice(0, 60));
    }
    return lost;
  })()`);
}

/**
 * Finds all places of `text` in the document.
 * @returns for each place, whether its letters are written from left to right
 */
export const directionsOf = (page: Page, text: string) =>
  page.evaluate<boolean[]>(`((text) => {
    const found = [];
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      const at = node.data.indexOf(text);
      const leftOf = (index) => {
        const letter = document.createRange();
        letter.setStart(node, index);
        letter.setEnd(node, index + 1);
        return letter.getBoundingClientRect().left;
      };
      if (at >= 0) found.push(leftOf(at) < leftOf(at + text.length - 1));
    }
    return found;
  })(${JSON.stringify(text)})`);
