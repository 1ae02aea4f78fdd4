export { createModel, type ModelSurroundings } from './create-model.js';
export { Models, type ModelSource } from './models.js';
export { createRuleModel } from './rules/rule-model.js';
