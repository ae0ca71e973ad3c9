import { countOf } from '../count-of.js';
import type { AuditReport } from './audit.js';

const HEAD = ['day', 'source', 'checks', 'failed', 'charged', 'quoted', 'difference', 'otherwise'];

/** Returns the report for people, in credits: a row for each source and day, then the findings. */
export function auditText(report: AuditReport): string {
  const rows = report.days.map((day) => [
    day.date,
    day.source,
    String(day.checks),
    String(day.failedChecks),
    String(day.charged),
    day.quoted.toFixed(1),
    (day.charged - day.quoted).toFixed(1),
    String(day.chargedOtherwise),
  ]);
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
  const unquoted = report.days.reduce((sum, day) => sum + day.chargedUnquoted, 0);
  return [
    ...lines,
    '',
    'The column "quoted" contains the price of one check (or of the first scan) at the start of each watch, and of one check for each interval in which the watch ran. The column "otherwise" contains readings of items (without brands in answers of AI engines, which are in "charged"), lookups, searches by meaning, analyses and Explore.',
    '',
    `${countOf(report.movements, 'movement')}, ${report.charges} of them charges; balance ${report.balance}`,
    ...(unquoted > 0
      ? [`note: watches without a stored quote were charged ${countOf(unquoted, 'credit')}`]
      : []),
    ...report.notes.map((note) => `note: ${note}`),
    ...report.faults.map((fault) => `FAULT: ${fault}`),
    report.agrees ? 'Everything agrees.' : `Found ${countOf(report.faults.length, 'difference')}.`,
    '',
  ].join('\n');
}
