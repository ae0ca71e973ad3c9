import { DateTime } from 'luxon';
import type { Digest, DigestItem, DigestMode, DigestSummary, WeeklyReport } from '#contracts';
import { sourceName } from './event-message.js';
import { newsOf } from './item-news.js';
import { cut, linkable, oneLine, type Chart, type Entry, type Message, type Section } from './message.js';

const MAX_TITLE_LENGTH = 150;
const MAX_TEXT_LENGTH = 200;
const MAX_LINE_LENGTH = 300;

const NAMES: Readonly<Record<DigestMode, string>> = {
  hourly: 'hourly digest',
  daily: 'daily digest',
  daily_brief: 'daily brief',
  weekly_report: 'weekly report',
};

/**
 * Returns the message of a digest: summary and figures first, then VIPs and the mentions that need an answer, then the
 * buckets. The items of a story come one after the other.
 */
export function digestMessage(digest: Digest): Message {
  const { keyword, mode, total, more, priority, groups, summary, report } = digest;
  const name = cut(oneLine(keyword.name), 80);
  return {
    title: `${name}: ${NAMES[mode]}, ${total.toLocaleString('en')} ${total === 1 ? 'mention' : 'mentions'}`,
    sections: [
      ...(summary
        ? [
            sectionOf(
              'Summary',
              summary.sentences.map((one) => sentenceOf(one, digest)),
            ),
          ]
        : []),
      ...(report ? reportSections(report) : []),
      ...(priority.length > 0
        ? [
            sectionOf(
              'VIPs and mentions to reply to',
              priority.map((item) => entryOf(item)),
            ),
          ]
        : []),
      ...groups.map(({ bucket, stories }) =>
        sectionOf(
          bucket ? lineOf(bucket.label) : groups.length > 1 ? 'Other mentions' : 'Mentions',
          stories.flatMap(({ items }) => items.map((item, n) => entryOf(item, n > 0))),
        ),
      ),
    ],
    more,
    link: report && linkable(report.url) ? { label: 'Open the report', url: report.url } : null,
    footer: `Earshot · ${name} · ${periodText(digest)}`,
    charts: report ? chartsOf(report) : [],
  };
}

/** Returns a sentence of the summary, with a link to the first of its mentions that the digest shows. */
function sentenceOf({ text, mentionIds }: DigestSummary['sentences'][number], digest: Digest): Entry {
  const shown = [
    ...digest.priority,
    ...digest.groups.flatMap(({ stories }) => stories.flatMap(({ items }) => items)),
  ];
  const cited = shown.find(({ mentionId }) => mentionIds.includes(mentionId));
  const meta = cited ? [sourceName(cited.source), cited.author ?? ''].filter(Boolean).join(' · ') : '';
  const others = mentionIds.length > 1 ? `, and ${mentionIds.length - 1} more` : '';
  return {
    title: lineOf(text),
    url: cited ? linkable(cited.url) : null,
    text: '',
    meta: lineOf(meta && `${meta}${others}`),
  };
}

/** @param isSame whether the entry belongs to the same story as the previous entry */
function entryOf(item: DigestItem, isSame = false): Entry {
  const title = oneLine(item.title || item.excerpt || `New on ${sourceName(item.source)}`);
  const meta = [
    sourceName(item.source),
    item.event ? newsOf(item.event) : '',
    item.author ?? '',
    item.community ?? '',
    item.vip ? 'VIP' : '',
    item.labels.includes('to_reply') ? 'to reply' : '',
    item.sentiment ?? '',
    (item.intent ?? '').replaceAll('_', ' '),
  ];
  return {
    title: `${isSame ? '↳ ' : ''}${cut(title, MAX_TITLE_LENGTH)}`,
    url: linkable(item.url),
    text: item.title && !isSame ? cut(oneLine(item.excerpt), MAX_TEXT_LENGTH) : '',
    meta: lineOf(meta.filter(Boolean).join(' · ')),
  };
}

function reportSections({ volume, sentiment, sources, authors, stories, alerts }: WeeklyReport): Section[] {
  const { positive, neutral, negative, mixed, unread } = sentiment;
  const lines = [
    `${volume.count.toLocaleString('en')} mentions, ${changeText(volume)}`,
    `Sentiment: ${positive} positive, ${neutral} neutral, ${negative} negative, ${mixed} mixed${unread > 0 ? `, ${unread} not read` : ''}`,
    listLine(
      'Sources',
      sources.map(
        ({ source, count }) => `${sourceName(source)} ${count} (${percentOf(count, volume.count)})`,
      ),
    ),
    listLine(
      'Authors',
      authors.map(({ author, count }) => `${oneLine(author)} ${count}`),
    ),
    listLine(
      'Alerts',
      alerts.map(
        ({ name, observed, baseline }) => `${oneLine(name)} (${observed}, usually ${Math.round(baseline)})`,
      ),
    ),
  ];
  return [
    { heading: 'The week', lines: lines.filter(Boolean).map(lineOf), entries: [] },
    ...(stories.length > 0
      ? [
          sectionOf(
            'Top stories',
            stories.map(({ title, url, count }) => ({
              title: cut(oneLine(title), MAX_TITLE_LENGTH),
              url: linkable(url),
              text: '',
              meta: `${count} mentions`,
            })),
          ),
        ]
      : []),
  ];
}

function chartsOf({ volume, sentiment }: WeeklyReport): Chart[] {
  return [
    {
      kind: 'days',
      title: 'Mentions per day, and the week before in grey',
      days: volume.days.map(({ date, count, previous }) => ({ label: date.slice(5), count, previous })),
    },
    { kind: 'shares', title: 'Sentiment', shares: { ...sentiment } },
  ];
}

/** Returns the change since the previous week. */
export function changeText({ count, previous }: { count: number; previous: number }): string {
  if (previous === 0) return 'none the week before';
  const percent = Math.round(((count - previous) / previous) * 100);
  return `${percent >= 0 ? '+' : '−'}${Math.abs(percent)} % compared with the week before (${previous.toLocaleString('en')})`;
}

function percentOf(count: number, all: number): string {
  return `${Math.round((count / Math.max(1, all)) * 100)} %`;
}

function listLine(name: string, parts: readonly string[]): string {
  return parts.length > 0 ? `${name}: ${parts.join(', ')}` : '';
}

function sectionOf(heading: string, entries: Entry[]): Section {
  return { heading, lines: [], entries };
}

function lineOf(text: string): string {
  return cut(oneLine(text), MAX_LINE_LENGTH);
}

function periodText({ period, timezone }: Digest): string {
  const shown = (iso: string) =>
    DateTime.fromISO(iso, { zone: timezone, locale: 'en' }).toFormat('d LLL HH:mm');
  return `${shown(period.from)} to ${shown(period.to)} (${timezone})`;
}
