export { answerSchemaLimits, answerSchemaProblem, readAnswerSchema } from './answer-schema.js';
export { schemaProblems } from './input-schema.js';
export { lookOver, textFaults } from './offered-texts.js';
export { convertOffer } from './offered-schema.js';
export { longestSchemaPattern, regexFlags } from './regex-flags.js';
export { checkableSchema, soundSchema } from './sound-schema.js';
export { withNulls } from './with-nulls.js';
