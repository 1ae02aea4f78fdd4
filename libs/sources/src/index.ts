export { checkingTools } from './checking-tools.js';
export { fileContracts } from './file-contracts.js';
export { argumentsProblem } from './json-schema-input.js';
export { loadToolTypes } from './load-folders.js';
export { createToolSource } from './source.js';
