import { Command } from 'commander';
import { failureText } from './arguments.js';

/** Adds one command, or one group of commands. */
type AddCommands = (program: Command) => void;

// A short command spends most of its time on loading modules. So only the modules of the requested command are loaded.
const COMMANDS: Readonly<Record<string, () => Promise<AddCommands>>> = {
  accounts: async () => (await import('./accounts.js')).addAccountCommands,
  'signing-secret': async () => (await import('./accounts.js')).addSigningSecretCommands,
  'master-key': async () => (await import('./master-key-commands.js')).addMasterKeyCommands,
  keys: async () => (await import('./keys.js')).addKeyCommands,
  members: async () => (await import('./members.js')).addMemberCommands,
  credits: async () => (await import('./credits.js')).addCreditCommands,
  streams: async () => (await import('./streams.js')).addStreamCommands,
  projections: async () => (await import('./projections.js')).addProjectionCommands,
  doctor: async () => (await import('./doctor/doctor-command.js')).addDoctorCommand,
  embeddings: async () => (await import('./embeddings/embeddings-commands.js')).addEmbeddingsCommands,
  mentions: async () => (await import('./monitoring/tail-command.js')).addTailCommand,
  keywords: async () => (await import('./monitoring/keyword-commands.js')).addKeywordCommands,
  parked: async () => (await import('./parked.js')).addParkedCommands,
  config: async () => (await import('./config-command.js')).addConfigCommand,
};

/** The exit code that shells report if SIGPIPE ends a program: 128 plus the number of the signal. */
const CLOSED_PIPE = 141;

// A program such as `head` closes the pipe when it has read enough. A disk can be full. In both cases, Node would print
// a stack trace without this handler.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(CLOSED_PIPE);
  process.stderr.write(`the output cannot be written: ${error.message}\n`, () => process.exit(1));
});

const program = new Command('cli')
  .description(
    'Manages a running Earshot. Finds it by DATA_DIR, or by NATS_URL, DATABASE_URL and CLICKHOUSE_URL. ' +
      'The commands keywords and mentions use its API instead, with EARSHOT_URL and EARSHOT_API_KEY.',
  )
  .showHelpAfterError();
const wanted = Object.entries(COMMANDS).filter(([name]) => name === process.argv[2]);
for (const [, load] of wanted.length > 0 ? wanted : Object.entries(COMMANDS)) (await load())(program);

program
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${failureText(error)}\n`);
    process.exitCode = 1;
  })
  .finally(endAfterOutput);

/**
 * Ends the process. A connection to a store that does not answer cannot be closed, and would keep the process alive. If
 * the output failed, the handler of its errors ends the process.
 */
function endAfterOutput(): void {
  process.stdout.write('', (error) => {
    if (!error) process.stderr.write('', () => process.exit());
  });
}
