import { runProgram, startService } from '#platform';
import { analysisService } from './analysis.module.js';
import { readAnalysisConfig } from './config.js';

await runProgram(readAnalysisConfig, (config) => startService(analysisService(config), config));
