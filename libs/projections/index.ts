export * from './consumer.js';
export * from './names.js';
export * from './projection.js';
export * from './rebuild.js';
export * from './versions.js';
