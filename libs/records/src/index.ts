export type * from './generated/records.js';
