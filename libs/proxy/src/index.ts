export * from './endpoint.js';
export * from './route.js';
export * from './headers.js';
export * from './refusal.js';
export * from './body-model.js';
export * from './read-request.js';
export * from './search-loop.js';
export * from './unread.js';
