export { openFolderContent } from './folder.js';
export { readContentKeys } from './keys.js';
export { openPostgresContent } from './open-postgres.js';
export { openS3Content } from './s3.js';
export type { S3ContentOptions } from './s3.js';
export type { StoreOptions } from './store.js';
