import { runProgram, startService } from '#platform';
import { readPollingConfig } from './config.js';
import { pollingService } from './polling.module.js';

await runProgram(readPollingConfig, (config) => startService(pollingService(config), config));
