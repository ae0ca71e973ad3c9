export * from './api-keys.js';
export * from './secret-box.js';
export * from './signed-text.js';
export * from './address-links.js';
export * from './codes.js';
export * from './report-addresses.js';
