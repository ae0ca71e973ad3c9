import { Command, InvalidArgumentError } from 'commander';
import { startSimulator } from './simulator.js';
import { SIMULATED_SOURCES } from './sources/index.js';

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new InvalidArgumentError('must be a whole number, 0 or more');
  return value;
};
const rate = (text: string): number => {
  const value = Number(text);
  if (!(value >= 0)) throw new InvalidArgumentError('must be a number of posts per second, 0 or more');
  return value;
};

interface Settings {
  port: number;
  host: string;
  rate: number;
  seed: number;
  history: number;
  secret?: string;
  quiet?: boolean;
}

const program = new Command('simulator')
  .description(
    `Simulates on one port: ${SIMULATED_SOURCES.join(', ')}, a language model, chat services and a webhook receiver.`,
  )
  .option('--port <port>', 'port to listen on, 0 for a free one', whole, 4010)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--rate <posts>', 'posts per second of each source', rate, 0.5)
  .option('--seed <number>', 'start of the random numbers: the same seed makes the same posts', whole, 1)
  .option('--history <posts>', 'posts of each source before the start', whole, 300)
  .option('--secret <secret>', 'signing secret that is valid for every hook')
  .option('--quiet', 'do not print a line for each webhook and each message');

const settings = program.parse().opts<Settings>();
const simulator = await startSimulator({
  ...{ port: settings.port, host: settings.host, seed: settings.seed, ratePerSecond: settings.rate },
  historyPosts: settings.history,
  ...(settings.secret !== undefined && { secret: settings.secret }),
  ...(!settings.quiet && { log: (line: string) => console.log(line) }),
});
console.log(`simulator ready on ${simulator.url} (${SIMULATED_SOURCES.join(', ')}, /hooks, /_sim)`);

const stop = () => {
  void simulator.stop().then(() => process.exit(0));
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
