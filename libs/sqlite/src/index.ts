export * from './errors.js';
export * from './file.js';
export * from './transaction.js';
