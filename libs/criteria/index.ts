export * from './criteria.js';
