import { DateTime } from 'luxon';
import type { Digest, WeeklyReport } from '#contracts';
import { escapeHtml as escaped } from '../../http/html-page.js';
import { daysChart, sharesChart } from './charts.js';

/** The page of a weekly report; undefined for a digest without a report. Texts of posts are escaped. */
export function reportPage({ keyword, report, period, timezone }: Digest): string | undefined {
  if (!report) return undefined;
  const formatted = (iso: string) =>
    DateTime.fromISO(iso, { zone: timezone, locale: 'en' }).toFormat('d LLLL yyyy HH:mm');
  const { volume, sentiment, sources, authors, stories, alerts } = report;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>${escaped(keyword.name)} · weekly report · Earshot</title>
<style>${STYLE}</style></head><body><main>
<h1>${escaped(keyword.name)}</h1>
<p class="quiet">Weekly report, ${escaped(formatted(period.from))} to ${escaped(formatted(period.to))} (${escaped(timezone)})</p>
<section><h2>Mentions</h2><p><strong class="figure">${volume.count.toLocaleString('en')}</strong> ${escaped(changeText(volume))}</p>
${daysChart(volume.days)}</section>
<section><h2>Sentiment</h2>${sharesChart(sentiment)}</section>
${table(
  'Sources',
  ['Source', 'Mentions', 'Share'],
  sources.map(({ source, count }) => [
    escaped(source),
    String(count),
    `${Math.round((count / Math.max(1, volume.count)) * 100)} %`,
  ]),
)}
${table(
  'Top authors',
  ['Author', 'Source', 'Mentions'],
  authors.map(({ author, source, count, vip }) => [
    `${escaped(author)}${vip ? ' <em>VIP</em>' : ''}`,
    escaped(source),
    String(count),
  ]),
)}
${table('Top stories', ['Story', 'Mentions'], stories.map(storyRow))}
${table(
  'Alerts',
  ['Time', 'Alert', 'Observed', 'Usually'],
  alerts.map(({ at, name, observed, baseline }) => [
    escaped(formatted(at)),
    escaped(name),
    String(observed),
    String(Math.round(baseline * 10) / 10),
  ]),
)}
</main></body></html>`;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f4f4f5;color:#18181b}
main{max-width:44rem;margin:0 auto;padding:2rem 1rem}h1{margin:0;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:0 0 .5rem}
section{background:#fff;border-radius:.5rem;padding:1rem 1.25rem;margin-top:1rem;overflow-x:auto}.quiet{color:#52525b;margin:.25rem 0 0}
.figure{font-size:2rem}table{border-collapse:collapse;width:100%}th{text-align:left;color:#52525b;font-weight:500}
td,th{padding:.3rem .5rem .3rem 0;overflow-wrap:anywhere}td+td,th+th{text-align:right;white-space:nowrap}svg{width:100%;height:auto;display:block}
svg text{font:11px system-ui,sans-serif;fill:#52525b}`;

function storyRow({ title, url, count }: WeeklyReport['stories'][number]): string[] {
  const isLink = url !== null && /^https?:\/\//i.test(url);
  const text = escaped(title);
  return [isLink ? `<a href="${escaped(url)}" rel="noreferrer noopener">${text}</a>` : text, String(count)];
}

/** Returns a section with a table; an empty text if there are no rows. @param rows the cells, as HTML */
function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const cells = (tag: string, row: readonly string[]) =>
    row.map((cell) => `<${tag}>${cell}</${tag}>`).join('');
  return `<section><h2>${title}</h2><table><thead><tr>${cells('th', heads)}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')}</tbody></table></section>`;
}

function changeText({ count, previous }: WeeklyReport['volume']): string {
  if (previous === 0) return 'mentions; none in the week before';
  const percent = Math.round(((count - previous) / previous) * 100);
  return `mentions, ${percent >= 0 ? '+' : '−'}${Math.abs(percent)} % compared with ${previous.toLocaleString('en')} in the week before`;
}
