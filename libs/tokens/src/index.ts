export * from './token-counter.js';
export * from './request-tokens.js';
export * from './usage.js';
