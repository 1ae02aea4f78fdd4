export { definitionText, requestTokens, toolTokens } from './request-tokens.js';
export type { ToolTokens } from './request-tokens.js';
export { TokenCounter } from './token-counter.js';
export { checkedUsage, plausible } from './usage.js';
