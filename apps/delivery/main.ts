import { runProgram, startService } from '#platform';
import { readDeliveryConfig } from './config.js';
import { deliveryService } from './delivery.module.js';

await runProgram(readDeliveryConfig, (config) => startService(deliveryService(config), config));
