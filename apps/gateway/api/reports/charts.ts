import type { WeeklyReport } from '#contracts';
import { escapeHtml } from '../../http/html-page.js';

const WIDTH = 560;
const HEIGHT = 160;
const LABELS_HEIGHT = 32;
const COLOURS: Readonly<Record<keyof WeeklyReport['sentiment'], string>> = {
  positive: '#15803d',
  neutral: '#a1a1aa',
  negative: '#b91c1c',
  mixed: '#ca8a04',
  unread: '#e4e4e7',
};

/** Two bars for each day as SVG: the previous week in grey, the week of the report in blue. */
export function daysChart(days: WeeklyReport['volume']['days']): string {
  const highest = Math.max(1, ...days.flatMap(({ count, previous }) => [count, previous]));
  const step = WIDTH / Math.max(1, days.length);
  const bar = (x: number, value: number, colour: string) => {
    const height = (value / highest) * (HEIGHT - 16);
    return `<rect x="${x.toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${(step * 0.35).toFixed(1)}" height="${height.toFixed(1)}" fill="${colour}"/>`;
  };
  const parts = days.map(({ date, count, previous }, n) => {
    const left = n * step + step * 0.15;
    const middle = (n * step + step / 2).toFixed(1);
    return `${bar(left, previous, '#d4d4d8')}${bar(left + step * 0.35, count, '#1d4ed8')}
<text x="${middle}" y="${HEIGHT + 14}" text-anchor="middle">${escapeHtml(date.slice(5))}</text>
<text x="${middle}" y="${HEIGHT + 28}" text-anchor="middle">${count}</text>`;
  });
  return svg(HEIGHT + LABELS_HEIGHT, 'Mentions per day, and the week before in grey', parts.join('\n'));
}

/** One bar as SVG, with a part for each sentiment. */
export function sharesChart(sentiment: WeeklyReport['sentiment']): string {
  const entries = Object.entries(sentiment) as [keyof WeeklyReport['sentiment'], number][];
  const total = Math.max(
    1,
    entries.reduce((sum, [, count]) => sum + count, 0),
  );
  let x = 0;
  const parts = entries.map(([name, count], n) => {
    const width = (count / total) * WIDTH;
    const rect = `<rect x="${x.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="20" fill="${COLOURS[name]}"/>`;
    x += width;
    const left = (n * WIDTH) / entries.length;
    return `${rect}<rect x="${left}" y="30" width="9" height="9" fill="${COLOURS[name]}"/><text x="${left + 13}" y="39">${name} ${count}</text>`;
  });
  return svg(46, 'Sentiment', parts.join('\n'));
}

function svg(height: number, title: string, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">${content}</svg>`;
}
