import type { Command } from 'commander';
import type { StreamedMention, StreamFilters } from '#client';
import { id } from '../arguments.js';
import { clientOf } from './installation-client.js';

interface TailOptions {
  keyword?: string[];
  source?: string[];
  q?: string[];
  json?: true;
  after?: string;
}

/** Adds the command `mentions tail`. */
export function addTailCommand(program: Command): void {
  program
    .command('mentions')
    .description('read mentions, with EARSHOT_URL (default: http://127.0.0.1:8080) and EARSHOT_API_KEY')
    .command('tail')
    .description('print new mentions as they arrive, until the command is interrupted')
    .option('--keyword <id>', 'only this keyword; can be repeated', collected(id))
    .option('--source <id>', 'only this source; can be repeated', collected(String))
    .option('--q <words>', 'only mentions with these words; can be repeated', collected(String))
    .option('--json', 'print one line of JSON for each mention: {id, mention}')
    .option(
      '--after <id>',
      'continue after this id: the first "id" of a line of --json, not the id in "mention"',
    )
    .action(tail);
}

async function tail({ keyword, source, q, json, after = '' }: TailOptions): Promise<void> {
  const ended = interruption();
  const filters = { keyword, source, q } as StreamFilters;
  const options = {
    lastEventId: after,
    signal: ended.signal,
    onReconnect: (error: unknown) =>
      process.stderr.write(`reconnecting: ${error instanceof Error ? error.message : String(error)}\n`),
  };
  try {
    for await (const streamed of clientOf(process.env).stream(filters, options))
      process.stdout.write(json ? `${JSON.stringify(streamed)}\n` : lineOf(streamed));
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

/** Returns a controller that aborts on Ctrl-C, on SIGTERM, and when a reader such as `head` has read enough. */
function interruption(): AbortController {
  const ended = new AbortController();
  const end = () => ended.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  process.stdout.once('error', end);
  return ended;
}

/** Returns the line of a mention: `12:30:05  reddit  ada  Title  https://…`. */
export function lineOf({ mention }: StreamedMention): string {
  const { occurredAt, source, author, title, excerpt, url } = mention;
  const parts = [occurredAt.slice(11, 19), source, author ?? '–', title ?? excerpt, url];
  return `${parts.map(printable).join('  ')}\n`;
}

/** Replaces control characters and line breaks with spaces, because a terminal would execute control characters. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}

function collected(read: (text: string) => string) {
  return (text: string, before: string[] = []) => [...before, read(text)];
}
