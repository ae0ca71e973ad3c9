import { Button, Group, Modal, Progress, Radio, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { count, plural } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import type { ApiFilters } from './feed-filters.js';
import { useExport, type ExportFormat } from './use-export.js';

interface Props {
  filters: ApiFilters;
  close: () => void;
}

/** Exports the mentions that the filters show. The API cannot export the result of a search by meaning. */
export default function ExportDialog({ filters, close }: Props) {
  if (filters.mode !== 'semantic') return <ExportForm {...{ filters, close }} />;
  return (
    <Modal opened onClose={close} title="Export mentions">
      <Text size="sm">
        The result of a search by meaning cannot be exported. Search for words, or clear the search, to export
        mentions.
      </Text>
    </Modal>
  );
}

/** Loads the export, and displays the progress. */
function ExportForm({ filters, close }: Props) {
  const [format, setFormat] = useState<ExportFormat>('csv');
  const { progress, start, cancel } = useExport(filters);
  const total = useTotal(filters);
  const isRunning = progress.status === 'running';
  const leave = () => {
    cancel();
    close();
  };
  return (
    <Modal opened onClose={leave} title="Export mentions">
      <Stack>
        <Text size="sm">
          {total === undefined ? 'Everything' : plural(total, 'mention')} that the filters of the feed show,
          including mentions that are not loaded yet.
        </Text>
        <Radio.Group label="Format" value={format} onChange={(value) => setFormat(value as ExportFormat)}>
          <Group mt={4}>
            <Radio value="csv" label="CSV, for spreadsheets" disabled={isRunning} />
            <Radio value="ndjson" label="NDJSON, for programs" disabled={isRunning} />
          </Group>
        </Radio.Group>
        {progress.status !== 'idle' && (
          <div role="status">
            <Progress
              value={
                progress.status === 'done'
                  ? 100
                  : (100 * progress.rows) / Math.max(total ?? 0, progress.rows, 1)
              }
              animated={isRunning}
              aria-label="Progress of the export"
            />
            <Text size="xs" c="dimmed" mt={4} className="tabular">
              {plural(progress.rows, 'mention')}, {count(progress.bytes / 1024)} KiB
              {progress.status === 'done' && ' · the file is in your downloads'}
            </Text>
          </div>
        )}
        {progress.status === 'failed' && <Problem error={progress.error} title="The export failed" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={leave}>
            {progress.status === 'done' ? 'Close' : 'Cancel'}
          </Button>
          <Button loading={isRunning} onClick={() => void start(format)}>
            Export
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Reads the number of mentions: the sum of the counts by day. */
function useTotal({ mode: _mode, ...filters }: ApiFilters): number | undefined {
  const { data } = useQuery({
    queryKey: ['/v1/mentions/series', 'total', filters],
    queryFn: async ({ signal }) => {
      const series = await api.get('/v1/mentions/series', { query: { ...filters, bucket: 'day' }, signal });
      return series.data.reduce((sum, row) => sum + row.count, 0);
    },
  });
  return data;
}
