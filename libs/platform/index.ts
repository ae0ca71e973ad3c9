export * from './platform.js';
export * from './projection.controller.js';
export * from './service.js';
export * from './service-runtime.js';
export * from './main.js';
export { respondAndClose, TOO_LATE_STATUS } from './http-edge.js';
export { streamsBehind } from './stream-check.js';
export { isOnlyKey, renewKeyCheck, sharedReportKey } from './master-key.js';
export { storedSecrets } from './stored-secrets.js';
