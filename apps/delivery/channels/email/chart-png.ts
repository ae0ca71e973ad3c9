import { PNG } from 'pngjs';
import type { Chart } from '../message.js';

type Rgb = readonly [number, number, number];

const WIDTH = 552;
const DAYS_HEIGHT = 140;
const SHARES_HEIGHT = 20;
const CURRENT: Rgb = [0x1d, 0x4e, 0xd8];
const PREVIOUS: Rgb = [0xd4, 0xd4, 0xd8];

/** Colours of the sentiments, for the chart and for its labels. */
export const SHARE_COLOURS: Readonly<Record<string, Rgb>> = {
  positive: [0x15, 0x80, 0x3d],
  neutral: [0xa1, 0xa1, 0xaa],
  negative: [0xb9, 0x1c, 0x1c],
  mixed: [0xca, 0x8a, 0x04],
  unread: [0xe4, 0xe4, 0xe7],
};

/**
 * Returns the chart as PNG, which every mail program shows: Outlook and Gmail show no SVG. The picture contains no
 * text; the mail contains the labels as text.
 */
export function chartPng(chart: Chart): { png: Buffer; width: number; height: number } {
  const height = chart.kind === 'days' ? DAYS_HEIGHT : SHARES_HEIGHT;
  const image = new PNG({ width: WIDTH, height });
  image.data.fill(0xff);
  if (chart.kind === 'days') drawDays(image, chart.days);
  else drawShares(image, chart.shares);
  return { png: PNG.sync.write(image, { colorType: 2 }), width: WIDTH, height };
}

function drawDays(image: PNG, days: readonly { count: number; previous: number }[]): void {
  const highest = Math.max(1, ...days.flatMap(({ count, previous }) => [count, previous]));
  const step = WIDTH / Math.max(1, days.length);
  const bar = Math.floor(step * 0.35);
  const heightOf = (value: number) =>
    value > 0 ? Math.max(2, Math.round((value / highest) * DAYS_HEIGHT)) : 0;
  days.forEach(({ count, previous }, n) => {
    const left = Math.floor(n * step + step * 0.15);
    fill(image, left, DAYS_HEIGHT - heightOf(previous), bar, heightOf(previous), PREVIOUS);
    fill(image, left + bar, DAYS_HEIGHT - heightOf(count), bar, heightOf(count), CURRENT);
  });
}

function drawShares(image: PNG, shares: Readonly<Record<string, number>>): void {
  const total = Object.values(shares).reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const [name, count] of Object.entries(shares)) {
    const from = Math.round((done / Math.max(1, total)) * WIDTH);
    done += count;
    const to = Math.round((done / Math.max(1, total)) * WIDTH);
    fill(image, from, 0, to - from, SHARES_HEIGHT, SHARE_COLOURS[name] ?? PREVIOUS);
  }
}

function fill(image: PNG, left: number, top: number, width: number, height: number, [r, g, b]: Rgb): void {
  for (let y = top; y < top + height; y += 1)
    for (let x = left; x < left + width; x += 1) image.data.set([r, g, b, 0xff], (y * image.width + x) * 4);
}
