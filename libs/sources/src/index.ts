export { withClientTools } from './client-tool.js';
export type { FromClient } from './client-tool.js';
export { fileContracts } from './file-contracts.js';
export { loadToolTypes } from './load-folders.js';
export { createToolSource } from './source.js';
export { ListReader, tryList } from './lists/list-reader.js';
