import { useRef, useState } from 'react';
import { api, reportToSession } from '../../api/client.js';
import type { ApiFilters } from './feed-filters.js';

/** The format of an export. */
export type ExportFormat = 'csv' | 'ndjson';

/** The progress of an export. */
export interface ExportProgress {
  status: 'idle' | 'running' | 'done' | 'failed';
  bytes: number;
  rows: number;
  error?: unknown;
}

const BEGINNING: ExportProgress = { status: 'idle', bytes: 0, rows: 0 };
const NEWLINE = 10;
/** Minimum time between two reports while the file loads. The last report does not wait. */
const REPORT_EVERY_MS = 150;

/** Loads all mentions that match the filters into a file, and reports the progress. */
export function useExport(filters: ApiFilters) {
  const [progress, setProgress] = useState(BEGINNING);
  const running = useRef<AbortController>(undefined);
  const start = async (format: ExportFormat) => {
    const stop = new AbortController();
    running.current = stop;
    setProgress({ ...BEGINNING, status: 'running' });
    try {
      const blob = await load(filters, format, stop.signal, (bytes, rows) =>
        setProgress({ status: 'running', bytes, rows }),
      );
      save(blob, `mentions.${format}`);
      setProgress((before) => ({ ...before, status: 'done' }));
    } catch (error) {
      if (stop.signal.aborted) return setProgress(BEGINNING);
      reportToSession(error);
      setProgress((before) => ({ ...before, status: 'failed', error }));
    }
  };
  return { progress, start, cancel: () => running.current?.abort() };
}

/**
 * Loads the export, and reports the numbers of bytes and rows. Each row ends with a line break. In a CSV, the first
 * line contains the names of the columns, and a quoted text can contain line breaks.
 */
async function load(
  { mode: _mode, ...filters }: ApiFilters,
  format: ExportFormat,
  signal: AbortSignal,
  report: (bytes: number, rows: number) => void,
): Promise<Blob> {
  const response = await api.download('/v1/mentions/export', { query: { ...filters, format }, signal });
  const reader = response.body?.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let rows = format === 'csv' ? -1 : 0;
  let isQuoted = false;
  let reportedAt = 0;
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) break;
    chunks.push(part.value);
    bytes += part.value.length;
    for (const byte of part.value) {
      if (byte === 34 && format === 'csv') isQuoted = !isQuoted;
      else if (byte === NEWLINE && !isQuoted) rows++;
    }
    if (performance.now() - reportedAt < REPORT_EVERY_MS) continue;
    reportedAt = performance.now();
    report(bytes, Math.max(0, rows));
  }
  report(bytes, Math.max(0, rows));
  return new Blob(chunks, { type: response.headers.get('content-type') ?? 'text/plain' });
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
