export { installWithApt } from './apt.js';
export { readOrMakeCredentials, type Credentials } from './credentials.js';
export * from './embedded-stores.js';
export * from './directory-lock.js';
export { freePort } from './free-port.js';
export { ensureNatsServer, findNatsServer } from './nats-store.js';
export { readRuntime, type Runtime } from './runtime-file.js';
export type { EmbeddedLog } from './store-process.js';
