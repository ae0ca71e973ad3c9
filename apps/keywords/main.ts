import { runProgram, startService } from '#platform';
import { readKeywordsConfig } from './config.js';
import { keywordsService } from './keywords.module.js';

await runProgram(readKeywordsConfig, (config) => startService(keywordsService(config), config));
