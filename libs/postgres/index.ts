export * from './database.js';
export * from './delete-in-parts.js';
export * from './entities/account.entity.js';
export * from './entities/keyword.entity.js';
export * from './jsonb-text.js';
export * from './together.js';
