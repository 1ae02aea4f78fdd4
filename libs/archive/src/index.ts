export { streamArchive, writeArchive } from './write.js';
export type { ByteSink, Exported } from './write.js';
export { openArchive } from './read.js';
export type { Archive } from './read.js';
export { selectRecords } from './select.js';
export type { Selection, Trailer } from './format.js';
