import type { Point } from './trend.js';

const [WIDTH, HEIGHT] = [860, 420];
const EDGE = { left: 56, right: 170, top: 34, bottom: 40 };
const COLOURS = ['#1b6ca8', '#c0392b', '#2e8b57', '#8e44ad', '#d98e04', '#555555', '#16a085'];
const TICKS = 5;

/** Draws a line for each series over time, as an SVG document. */
export function plot(title: string, series: ReadonlyMap<string, readonly Point[]>): string {
  const points = [...series.values()].flat();
  const minutes = Math.max(1, ...points.map(({ minute }) => minute));
  const step = roundStep(Math.max(1, ...points.map(({ value }) => value)) / TICKS);
  const max = step * Math.ceil(Math.max(1, ...points.map(({ value }) => value)) / step);
  const x = (minute: number) => EDGE.left + (minute / minutes) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value: number) => HEIGHT - EDGE.bottom - (value / max) * (HEIGHT - EDGE.top - EDGE.bottom);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    label(EDGE.left, 20, title, 'font-size="14"'),
  ];
  for (let value = 0; value <= max; value += step)
    parts.push(
      `<path d="M${EDGE.left} ${at(y(value))}H${WIDTH - EDGE.right}" stroke="#ddd"/>`,
      label(EDGE.left - 6, y(value) + 4, `${value}`, 'text-anchor="end"'),
    );
  const minuteStep = roundStep(minutes / 6);
  for (let minute = 0; minute <= minutes; minute += minuteStep)
    parts.push(label(x(minute), HEIGHT - EDGE.bottom + 18, `${minute}`, 'text-anchor="middle"'));
  parts.push(
    label((WIDTH - EDGE.right + EDGE.left) / 2, HEIGHT - 6, 'minutes', 'text-anchor="middle"'),
    label(6, EDGE.top - 2, 'MiB', ''),
  );
  const places = labelPlaces([...series.values()].map((line) => y(line.at(-1)?.value ?? 0)));
  [...series].forEach(([name, line], n) => {
    const colour = COLOURS[n % COLOURS.length];
    const way = line.map(({ minute, value }) => `${at(x(minute))} ${at(y(value))}`).join('L');
    parts.push(`<path d="M${way}" fill="none" stroke="${colour}" stroke-width="1.5"/>`);
    parts.push(label(WIDTH - EDGE.right + 8, places[n] ?? 0, name, `fill="${colour}"`));
  });
  return `${parts.join('\n')}\n</svg>\n`;
}

/**
 * Places each name beside the end of its line. If two lines end close together, one name is below the other.
 */
function labelPlaces(ends: readonly number[]): number[] {
  const places = [...ends];
  let above = -Infinity;
  for (const n of ends.map((_, n) => n).sort((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0))) {
    above = Math.max((ends[n] ?? 0) + 4, above + 15);
    places[n] = above;
  }
  return places;
}

/** Returns the smallest of 1, 2 or 5 times a power of ten that is at least the given number. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * ([1, 2, 5].find((factor) => factor * power >= atLeast) ?? 10);
}

function label(x: number, y: number, text: string, more: string): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${at(x)}" y="${at(y)}" ${more}>${safe}</text>`;
}

const at = (value: number) => value.toFixed(1);
