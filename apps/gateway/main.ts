import { runProgram, startService } from '#platform';
import { readGatewayConfig } from './config.js';
import { gatewayService } from './gateway.module.js';

await runProgram(readGatewayConfig, (config) => startService(gatewayService(config), config));
