import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { EarshotError, type Client } from '#client';
import { readKeywordFile, writeKeywordFile, type Keyword } from './keyword-file.js';
import { planKeywords, type Step } from './keyword-plan.js';
import { clientOf } from './installation-client.js';
import { planText, type PricedStep } from './plan-text.js';

const CHANGES_EXIT_CODE = 2;

interface PlanOptions {
  delete?: true;
  json?: true;
}

/** Adds the commands for monitoring as code: `keywords export`, `keywords plan`, `keywords apply`. */
export function addKeywordCommands(program: Command): void {
  const keywords = program
    .command('keywords')
    .description(
      'keep the keywords of an account in a file, with EARSHOT_URL (default: http://127.0.0.1:8080) and EARSHOT_API_KEY',
    );
  keywords
    .command('export')
    .description('print the keywords of the account as YAML, without retired keywords')
    .action(async () => {
      process.stdout.write(writeKeywordFile(await keywordsOf(clientOf(process.env))));
    });
  keywords
    .command('plan')
    .description('print what apply would change; exit code 0: nothing, 2: changes, 1: an error')
    .argument('<file>', 'YAML file')
    .option('--delete', 'delete (retire) keywords that are not in the file')
    .option('--json', 'print one line of JSON')
    .action(async (file: string, options: PlanOptions) => {
      const steps = await withPrices(clientOf(process.env), file, options);
      process.stdout.write(options.json ? `${JSON.stringify(steps)}\n` : planText(steps));
      if (steps.some(isChange)) process.exitCode = CHANGES_EXIT_CODE;
    });
  keywords
    .command('apply')
    .description('change the keywords of the account to those of the file; exit code 0: done, 1: an error')
    .argument('<file>', 'YAML file')
    .option('--delete', 'delete (retire) keywords that are not in the file; they are never purged')
    .action(async (file: string, options: PlanOptions) => {
      const client = clientOf(process.env);
      const steps = await withPrices(client, file, options);
      process.stdout.write(planText(steps));
      for (const step of steps.filter(isChange)) {
        process.stdout.write(`${await apply(client, step)}\n`);
      }
      await refuseTwins(client, steps);
    });
}

const isChange = ({ kind }: Step): boolean => kind === 'create' || kind === 'change' || kind === 'delete';

/** Returns the keywords of the account that are not retired. */
async function keywordsOf(client: Client): Promise<Keyword[]> {
  const found = [];
  const query = { state: ['active' as const, 'paused' as const], limit: 200 };
  for await (const keyword of client.paginate('/v1/keywords', { query })) found.push(keyword);
  return found;
}

/**
 * Returns the steps with their prices. Each price is estimated for the current state of the account. All new and
 * changed keywords of the file are checked before the first keyword is changed.
 * @throws Error with all refusals
 */
async function withPrices(client: Client, path: string, options: PlanOptions): Promise<PricedStep[]> {
  const file = readKeywordFile(bytesOf(path));
  const steps = planKeywords(file, await keywordsOf(client), options.delete === true);
  const found: PricedStep[] = [];
  const faults: string[] = [];
  for (const step of steps) {
    const before = step.kind === 'create' ? 0 : step.keyword.monthlyCredits;
    if (step.kind === 'same' || step.kind === 'leave') found.push({ ...step, before, after: before });
    else if (step.kind === 'delete') found.push({ ...step, before, after: 0 });
    else {
      const estimate = await estimateOf(client, step);
      if (estimate.valid)
        found.push({ ...step, before, after: estimate.monthlyCredits, token: estimate.token });
      else faults.push(`${JSON.stringify(step.file.body.name)} is refused:\n  ${estimate.text}`);
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return found;
}

/** Returns the content of the file. @throws Error that says what is wrong with the path, and what to do */
function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [reason, remedy] = UNREADABLE[code ?? ''] ?? [message, 'give the path of a YAML file'];
    throw new Error(`cannot read ${path}: ${reason}; ${remedy}`, { cause: error });
  }
}

const UNREADABLE: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ENOENT: ['no such file', 'write one with `keywords export > keywords.yaml`, or correct the path'],
  EISDIR: ['it is a folder', 'give the path of a YAML file'],
  EACCES: ['permission denied', 'allow this user to read it'],
};

type Estimate = { valid: true; monthlyCredits: number; token: string } | { valid: false; text: string };

type WrittenStep = Extract<Step, { kind: 'create' | 'change' }>;

/** Returns the body of the PATCH. */
const changedKeys = ({ file, changes }: Extract<Step, { kind: 'change' }>) =>
  Object.fromEntries(changes.map(({ key }) => [key, (file.body as unknown as Record<string, unknown>)[key]]));

async function estimateOf(client: Client, step: WrittenStep): Promise<Estimate> {
  const answer = await (step.kind === 'create'
    ? client.post('/v1/queries/estimate', { body: step.file.body })
    : client.post('/v1/queries/estimate', { query: { keyword: step.keyword.id }, body: changedKeys(step) }));
  if (answer.valid)
    return { valid: true, monthlyCredits: answer.estimate.monthlyCredits, token: answer.estimateToken };
  const { message, details = [] } = answer.refusal;
  const text = details.map((fault) => [fault.path, fault.message].filter(Boolean).join(': ')).join('\n  ');
  return { valid: false, text: text || message };
}

/** @throws Error if a created keyword exists twice, because another `apply` created it at the same time */
async function refuseTwins(client: Client, steps: readonly Step[]): Promise<void> {
  const created = steps.flatMap((step) => (step.kind === 'create' ? [step.file] : []));
  if (created.length > 0) planKeywords(created, await keywordsOf(client), false);
}

/** Changes the keyword in the installation. @returns a text for people about the change */
async function apply(client: Client, step: PricedStep): Promise<string> {
  try {
    switch (step.kind) {
      case 'create': {
        const headers: Record<string, string> =
          step.token === undefined ? {} : { 'service-estimate-token': step.token };
        const { id } = await client.post('/v1/queries', { body: step.file.body, headers });
        return `created ${step.file.body.name} (${id})`;
      }
      case 'change': {
        const path = { id: step.keyword.id };
        const { resetSearches } = await client.patch('/v1/queries/{id}', { path, body: changedKeys(step) });
        return `changed ${step.file.body.name}; searches started over: ${resetSearches.length}`;
      }
      case 'delete':
        await client.delete('/v1/keywords/{id}', { path: { id: step.keyword.id } });
        return `deleted ${step.keyword.name}; its mentions stay readable`;
      default:
        return '';
    }
  } catch (error) {
    if (!(error instanceof EarshotError)) throw error;
    const name = 'file' in step ? step.file.body.name : step.keyword.name;
    const faults = error.details.map((fault) => `\n  ${fault.path}: ${fault.message}`).join('');
    throw new Error(`${JSON.stringify(name)} could not be applied: ${error.message}${faults}`, {
      cause: error,
    });
  }
}
