export * from './sources.js';
export * from './content.js';
export * from './chain.js';
export * from './checkpoint.js';
export * from './entries/entries.js';
export * from './entries/given-up.js';
export type { AskedTool, Facts, Told, ToolLookup } from './entries/told.js';
export * from './verify/findings.js';
export * from './verify/verify.js';
