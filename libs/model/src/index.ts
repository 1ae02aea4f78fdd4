export { createModel, type ModelSurroundings } from './create-model.js';
export { askInOrder, briefOf, type AskedTurn, type PassedOver } from './in-order.js';
export { nativeSearches } from './native-searches.js';
export { Models, type ModelSource } from './models.js';
export { createRuleModel } from './rules/rule-model.js';
export { createProviderCount, type ProviderCount } from './count-tools.js';
export { createEmbedder } from './embed/create-embedder.js';
export { Embedders } from './embed/embedders.js';
