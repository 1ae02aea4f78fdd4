export * from './generated/records.js';
export * from './topics.js';
export * from './access.js';
export * from './request-ids.js';
export * from './codec.js';
export { recordFromJson, recordToJson, ShapeError } from './json.js';
export { camelCase, recordSchema, selfContained } from './schema.js';
export type { AvroField, AvroRecord, AvroType } from './schema.js';
export * from './headers.js';
