export { CallQuestions } from './call-questions.js';
export type {
  SamplingRequest,
  CallAnswers,
  McpCallOptions,
  McpConnectOptions,
  McpCredential,
  McpHub,
  McpServerStatus,
  ModelAnswer,
  WatchingHub,
} from './hub.js';
export { createMcpHub } from './load-hub.js';
export type { McpHubParts } from './load-hub.js';
export { ResultCache } from './result-cache.js';
export type { CacheableCall } from './result-cache.js';
