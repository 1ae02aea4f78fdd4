export type { Selection, Trailer } from './format.js';
export { openArchive } from './read.js';
export type { Archive } from './read.js';
export { selectRecords } from './select.js';
export { streamArchive, writeArchive } from './write.js';
export type { Exported } from './write.js';
