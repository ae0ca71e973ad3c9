import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { GIST_INTENTS } from '../intent/gist.js';
import { rowsOf } from './data.js';

/** Posts with their stance toward a brand. */
export const STANCE_FILE = 'stance/topics.train.tsv';
/**
 * Our own labels. The file contains the beginning of the SHA-256 of each text instead of the text, because the texts
 * must not be redistributed.
 */
const LABELS = new URL('../../../../libs/readers/training/intent-labels.tsv', import.meta.url);

/** A post about a brand. `label` is the index of the post's intent in `GIST_INTENTS`. */
export interface GistRow {
  subject: string;
  text: string;
  label: number;
}

/**
 * Returns the posts of the stance file that we have labelled with an intent. Some intents are not in `GIST_INTENTS`, because
 * only the rules for phrases recognise them. Such an intent becomes `other`.
 */
export function gistRows(folder: string): GistRow[] {
  const labels = new Map(
    readFileSync(LABELS, 'utf8')
      .split('\n')
      .slice(1)
      .filter(Boolean)
      .map((line) => line.split('\t') as [string, string]),
  );
  return rowsOf(folder, STANCE_FILE).flatMap(({ subject = '', text = '' }) => {
    const intent = labels.get(createHash('sha256').update(text).digest('hex').slice(0, 12));
    if (intent === undefined) return [];
    return [
      { subject, text, label: Math.max(0, GIST_INTENTS.indexOf(intent as (typeof GIST_INTENTS)[number])) },
    ];
  });
}
