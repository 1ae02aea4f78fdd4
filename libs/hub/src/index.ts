export type { McpCallOptions, McpCredential, McpHub, McpServerStatus } from './hub.js';
export { createMcpHub } from './load-hub.js';
export type { McpHubParts } from './load-hub.js';
export { ResultCache } from './result-cache.js';
export type { CacheableCall } from './result-cache.js';
