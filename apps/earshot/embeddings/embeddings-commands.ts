import type { Command } from 'commander';
import { readSettings } from '#config';
import { checkEmbeddings, EMBEDDINGS_SETTINGS, openEmbedder, type Embedder } from '#embeddings';
import { USER_AGENT } from '#platform';
import { print } from '../arguments.js';
import { withClickHouse, withDatabase } from '../connection.js';
import { backfillEmbeddings, embeddingsStatus, refuseOtherModel } from './backfill.js';

const PROGRESS_EVERY_MS = 2000;

/** Adds the commands `embeddings status|backfill`. */
export function addEmbeddingsCommands(program: Command): void {
  const embeddings = program
    .command('embeddings')
    .description('manage the vectors with which mentions are searched by meaning (mode=semantic)');
  embeddings
    .command('status')
    .description(
      'print {model, mentions, embedded, ofOtherModels}: how many mentions a semantic search can find',
    )
    .action(() =>
      withEmbedder(async ({ model }) =>
        print(await withClickHouse(process.env, (ch) => embeddingsStatus(ch, model))),
      ),
    );
  embeddings
    .command('backfill')
    .description(
      'embed the mentions that have no vector of the current model, and delete the vectors of other models, while ' +
        'Earshot runs; print a line of JSON every few seconds: {phase, processed, total, secondsLeft}. A new run ' +
        'continues an interrupted run. Set EMBEDDINGS_URL and the other settings as for the services',
    )
    .option(
      '--model-changed',
      'the model of the services was changed a short time ago, so most vectors are still of another model',
    )
    .action(({ modelChanged = false }: { modelChanged?: boolean }) =>
      withEmbedder((embedder) => backfill(embedder, modelChanged)),
    );
}

async function backfill(embedder: Embedder, modelChanged: boolean): Promise<void> {
  let printedAt = Date.now();
  const done = await withClickHouse(process.env, async (clickhouse) => {
    if (!modelChanged) await refuseOtherModel(clickhouse, embedder.model);
    return withDatabase(process.env, (database) =>
      backfillEmbeddings(clickhouse, database, embedder, (progress) => {
        if (Date.now() - printedAt < PROGRESS_EVERY_MS) return;
        printedAt = Date.now();
        print(progress);
      }),
    );
  });
  print(done);
}

async function withEmbedder(work: (embedder: Embedder) => Promise<void>): Promise<void> {
  const settings = readSettings(EMBEDDINGS_SETTINGS, process.env);
  checkEmbeddings(settings);
  const embedder = openEmbedder(settings, USER_AGENT);
  try {
    await work(embedder);
  } finally {
    await embedder.close();
  }
}
