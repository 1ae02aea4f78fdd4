export * from './tool.js';
export * from './tokens.js';
export * from './relevance.js';
export * from './ranked.js';
export * from './search.js';
export * from './choose.js';
export * from './read-tools.js';
