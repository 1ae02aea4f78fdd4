export { withLogCopy } from './copy-log.js';
export type { CallInDoubt } from './in-doubt.js';
export type { Manifest } from './manifest.js';
export { sizeText } from './files.js';
export { restoreBackup } from './restore.js';
export { takeBackup } from './take.js';
