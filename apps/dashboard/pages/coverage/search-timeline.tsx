import { Alert, Badge, Button, Group, Paper, Table, Text, Tooltip } from '@mantine/core';
import { EyeOff } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../../clients/typescript/src/index.js';
import { count, duration, exactTime, minuteOf } from '../../parts/format.js';
import { SourceName } from '../../parts/source.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { badgeText, JUST_STARTED_MS, percentOf } from './shown-time.js';
import styles from './timeline.module.css';

type Search = components['schemas']['SearchCoverage'];
type Window = Search['windows'][number];

const NAMES: Readonly<Record<Window['status'], string>> = {
  covered: 'Covered',
  gap: 'Gap',
  failed: 'Failed',
};
/** Number of rows that are shown at first. */
const FIRST_ROWS = 8;

const lengthOf = ({ from, to }: Pick<Window, 'from' | 'to'>) => Date.parse(to) - Date.parse(from);

interface Props {
  search: Search;
  label: string | undefined;
  since: string;
  until: string;
  /** True if the answer begins later than requested. */
  isCut: boolean;
}

/**
 * Shows one search: its line from `since` to `until`, the delay of its mentions, and its gaps, failures and remarks.
 */
export function SearchTimeline({ search, label, since, until, isCut }: Props) {
  const { source, windows, lagSeconds, nextCheckAt } = search;
  const whole = windows.reduce((sum, window) => sum + lengthOf(window), 0);
  const covered = windows
    .filter(({ status }) => status === 'covered')
    .reduce((sum, one) => sum + lengthOf(one), 0);
  const remarks = windows.filter(({ status, reason }) => status !== 'covered' || reason !== null).reverse();
  const last = windows.at(-1);
  const badge = badgeText(covered, whole, isCut);
  const isUnreadable = last !== undefined && last.status === 'failed';
  return (
    <Paper p="md" bg="var(--surface)" component="section" aria-label={`${source} ${label ?? ''}`}>
      <Group justify="space-between" mb="xs">
        <Group gap="sm">
          <SourceName source={source} />
          {label && (
            <Text size="sm" c="dimmed" className="foreign">
              {label}
            </Text>
          )}
          {badge && (
            <Badge color={isUnreadable ? 'red' : whole > 0 && covered === whole ? 'teal' : 'yellow'}>
              {badge}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          {lagSeconds &&
            `Found after ${duration(Math.round(lagSeconds.p50))} (p95 ${duration(Math.round(lagSeconds.p95))}) · `}
          {nextCheckAt ? (
            <>
              Next check <Time at={nextCheckAt} near="within a minute" />
            </>
          ) : (
            'No check is due'
          )}
        </Text>
      </Group>
      {isUnreadable && (
        <Alert
          color="red"
          icon={<EyeOff size={18} aria-hidden />}
          mb="sm"
          title="Earshot cannot read this source"
          role="status"
        >
          Since {minuteOf(last.from)} this source could not be read:{' '}
          <bdi className="foreign">{last.reason}</bdi>. New posts may be missing until a check succeeds again.
        </Alert>
      )}
      <Line
        windows={windows}
        since={since}
        until={until}
        text={
          isCut && whole === 0
            ? 'Not checked yet in the shown time'
            : `${percentOf(whole === 0 ? 0 : covered / whole)} of the time covered; remarks are listed below`
        }
      />
      <Group justify="space-between" mt={4}>
        <Text size="xs" c="dimmed">
          {minuteOf(since)}
        </Text>
        <Text size="xs" c="dimmed">
          {minuteOf(until)}
        </Text>
      </Group>
      <GreyLegend windows={windows} since={since} until={until} isCut={isCut} />
      {remarks.length > 0 && (
        <details open={remarks.length <= 3}>
          <Text component="summary" size="sm" my="xs" style={{ cursor: 'pointer' }}>
            {remarks.length === 1 ? 'One remark' : `${remarks.length} remarks`}
          </Text>
          <GapsAndFailures source={source} remarks={remarks} />
        </details>
      )}
    </Paper>
  );
}

/** Shows gaps, failures, and covered times with a remark, the newest first. */
function GapsAndFailures({ source, remarks }: { source: Search['source']; remarks: readonly Window[] }) {
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(0, remarks.length - FIRST_ROWS);
  return (
    <>
      <DataTable
        label={`Gaps and failures on ${source}`}
        head={['From', 'Length', 'What', 'Why']}
        minWidth={560}
      >
        {remarks.slice(0, remarks.length - hidden).map((window) => (
          <Table.Tr key={window.from}>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>{minuteOf(window.from)}</Table.Td>
            <Table.Td>{lengthText(window)}</Table.Td>
            <Table.Td>{NAMES[window.status]}</Table.Td>
            <Table.Td className="foreign">{window.reason}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {hidden > 0 && (
        <Group gap="xs" mt="xs">
          <Text size="sm" c="dimmed">
            and {count(hidden)} more
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => setWhole(true)}>
            Show all
          </Button>
        </Group>
      )}
    </>
  );
}

function Line({
  windows,
  since,
  until,
  text,
}: {
  windows: readonly Window[];
  since: string;
  until: string;
  text: string;
}) {
  const whole = Math.max(1, Date.parse(until) - Date.parse(since));
  const first = windows[0]?.from ?? until;
  return (
    <div className={styles.line} role="img" aria-label={text}>
      <span className={styles.none} style={{ flexGrow: (Date.parse(first) - Date.parse(since)) / whole }} />
      {windows.map((window) => (
        <Tooltip
          key={window.from}
          multiline
          maw={320}
          label={`${NAMES[window.status]}: ${exactTime(window.from)} to ${exactTime(window.to)}${window.reason ? `. ${window.reason}` : ''}`}
        >
          <span
            className={`${styles.part} ${styles[window.status]}`}
            style={{ flexGrow: lengthOf(window) / whole }}
          />
        </Tooltip>
      ))}
      <span
        className={styles.none}
        style={{ flexGrow: (Date.parse(until) - Date.parse(windows.at(-1)?.to ?? since)) / whole }}
      />
    </div>
  );
}

/** Explains the grey ends of the line: times that are not part of the coverage. */
function GreyLegend({
  windows,
  since,
  until,
  isCut,
}: {
  windows: readonly Window[];
  since: string;
  until: string;
  isCut: boolean;
}) {
  const first = windows[0];
  // In an answer that is cut, the last check of a search can be before `since`.
  const end = windows.at(-1)?.to ?? (isCut ? since : until);
  const isLong = (from: string, to: string) => Date.parse(to) - Date.parse(from) > JUST_STARTED_MS;
  const parts = [
    ...(first && isLong(since, first.from)
      ? [`before ${minuteOf(first.from)} this search did not exist`]
      : []),
    ...(isLong(end, until) ? [`after ${minuteOf(end)} it was not checked yet`] : []),
  ];
  if (parts.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" mt={4}>
      <span className={styles.swatch} aria-hidden /> Grey, and not counted: {parts.join('; ')}.
    </Text>
  );
}

function lengthText(window: Window): string {
  const seconds = Math.round(lengthOf(window) / 1000);
  return duration(seconds < 120 ? seconds : Math.round(seconds / 60) * 60);
}
