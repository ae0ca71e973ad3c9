export * from './bfloat16.js';
export * from './compress.js';
export * from './embedder.js';
export * from './open-embedder.js';
export * from './sentence-encoder.js';
