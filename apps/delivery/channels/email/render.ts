import { escapeAttribute, escapeHtml } from '../html.js';
import { cut, moreLine, oneLine, type Chart, type Entry, type Message, type Section } from '../message.js';
import { chartPng, SHARE_COLOURS } from './chart-png.js';

/** The parts of a mail. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
  /** Pictures that the HTML shows. */
  images: { cid: string; png: Buffer }[];
}

/** Maximum length of a subject, so that it stays readable. */
const MAX_SUBJECT_LENGTH = 120;

/**
 * Returns the mail of a message. The layout of its HTML uses only tables and inline styles, which Outlook and Gmail
 * show.
 * @param footer links of the mail itself, such as the link to unsubscribe
 */
export function renderMail(
  message: Message,
  footer: readonly { label: string; url: string }[],
): RenderedMail {
  const charts = (message.charts ?? []).map((chart, n) => ({
    chart,
    cid: `chart-${n + 1}`,
    ...chartPng(chart),
  }));
  return {
    subject: cut(oneLine(message.title), MAX_SUBJECT_LENGTH),
    text: textOf(message, footer),
    html: htmlOf(message, footer, charts),
    images: charts.map(({ cid, png }) => ({ cid, png })),
  };
}

function textOf({ title, sections, more, link, footer }: Message, links: readonly MailLink[]): string {
  return [
    title,
    ...sections.flatMap(({ heading, lines, entries }) => [
      ...(heading ? [`${heading}\n${'-'.repeat(Math.min(heading.length, 60))}`] : []),
      ...(lines.length > 0 ? [lines.join('\n')] : []),
      ...entries.map((entry) =>
        [entry.title, entry.meta, entry.text, entry.url ?? ''].filter(Boolean).join('\n'),
      ),
    ]),
    moreLine(more),
    link ? `${link.label}: ${link.url}` : '',
    ['-- ', footer, ...links.map(({ label, url }) => `${label}: ${url}`)].join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n');
}

interface MailLink {
  label: string;
  url: string;
}

const FONT = 'font-family:Arial,Helvetica,sans-serif';

function htmlOf(
  { title, sections, more, link, footer }: Message,
  links: readonly MailLink[],
  charts: readonly DrawnChart[],
): string {
  const last = moreLine(more);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escapeHtml(title)}</title></head><body style="margin:0;padding:0;background:#f4f4f5">`,
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" bgcolor="#f4f4f5"><tr><td align="center" style="padding:16px">',
    '<table role="presentation" width="600" cellpadding="0" cellspacing="0" bgcolor="#ffffff" style="max-width:600px;width:100%">',
    row(
      `<h1 style="margin:0;font-size:20px;${FONT};color:#18181b">${escapeHtml(title)}</h1>`,
      '24px 24px 8px',
    ),
    ...charts.map((chart) => row(chartHtml(chart))),
    ...sections.flatMap(sectionRows),
    ...(last ? [row(paragraph(last))] : []),
    ...(link ? [row(button(link))] : []),
    row(footerHtml(footer, links), '16px 24px 24px'),
    '</table></td></tr></table></body></html>',
  ].join('\n');
}

function sectionRows({ heading, lines, entries }: Section): string[] {
  return [
    ...(heading
      ? [
          row(
            `<h2 style="margin:0;font-size:16px;${FONT};color:#3f3f46">${escapeHtml(heading)}</h2>`,
            '16px 24px 4px',
          ),
        ]
      : []),
    ...lines.map((line) => row(paragraph(line), '2px 24px')),
    ...entries.map((entry) => row(entryHtml(entry), '10px 24px')),
  ];
}

function entryHtml({ title, url, text, meta }: Entry): string {
  const shown = escapeHtml(title);
  const head = url
    ? `<a href="${escapeAttribute(url)}" style="color:#1d4ed8;text-decoration:none" rel="noreferrer">${shown}</a>`
    : shown;
  return [
    `<p style="margin:0;font-size:15px;font-weight:bold;${FONT}">${head}</p>`,
    meta ? `<p style="margin:2px 0 0;font-size:12px;color:#71717a;${FONT}">${escapeHtml(meta)}</p>` : '',
    text ? `<p style="margin:4px 0 0;font-size:14px;color:#27272a;${FONT}">${withBreaks(text)}</p>` : '',
  ].join('');
}

interface DrawnChart {
  chart: Chart;
  cid: string;
  width: number;
  height: number;
}

/** Returns the HTML of a picture with its labels, which are text. */
function chartHtml({ chart, cid, width, height }: DrawnChart): string {
  const alt = escapeAttribute(chart.title);
  const image = `<img src="cid:${cid}" alt="${alt}" width="${width}" height="${height}" style="display:block;width:100%;max-width:${width}px;height:auto">`;
  const small = `font-size:11px;color:#52525b;${FONT}`;
  const labels =
    chart.kind === 'days'
      ? chart.days.map(
          ({ label, count }) =>
            `<td align="center" style="${small}">${escapeHtml(label)}<br><b>${count}</b></td>`,
        )
      : Object.entries(chart.shares).map(
          ([name, count]) =>
            `<td style="${small}"><span style="color:rgb(${(SHARE_COLOURS[name] ?? [0, 0, 0]).join(',')})">■</span> ${escapeHtml(name)} ${count}</td>`,
        );
  return `<p style="margin:0 0 6px;${small}">${escapeHtml(chart.title)}</p>${image}<table role="presentation" width="100%" cellpadding="2" cellspacing="0"><tr>${labels.join('')}</tr></table>`;
}

function paragraph(text: string): string {
  return `<p style="margin:0;font-size:14px;color:#27272a;${FONT}">${withBreaks(text)}</p>`;
}

function button({ label, url }: MailLink): string {
  return `<a href="${escapeAttribute(url)}" style="display:inline-block;padding:10px 16px;background:#1d4ed8;color:#ffffff;text-decoration:none;font-size:14px;${FONT}">${escapeHtml(label)}</a>`;
}

function footerHtml(footer: string, links: readonly MailLink[]): string {
  const anchors = links.map(
    ({ label, url }) => `<a href="${escapeAttribute(url)}" style="color:#71717a">${escapeHtml(label)}</a>`,
  );
  return `<p style="margin:0;font-size:12px;color:#71717a;${FONT}">${[escapeHtml(footer), ...anchors].join(' · ')}</p>`;
}

function row(content: string, padding = '8px 24px'): string {
  return `<tr><td style="padding:${padding}">${content}</td></tr>`;
}

function withBreaks(text: string): string {
  return escapeHtml(text).replaceAll('\n', '<br>');
}
