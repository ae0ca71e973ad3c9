import { runProgram, startService } from '#platform';
import { billingService } from './billing.module.js';
import { readBillingConfig } from './config.js';

await runProgram(readBillingConfig, (config) => startService(billingService(config), config));
