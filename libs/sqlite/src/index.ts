export { isBusy, isFull, isSqliteError, sqliteFault } from './errors.js';
export type { Named } from './errors.js';
export { fileProblem, openReadOnly } from './examine.js';
export { makeOwn, openFile } from './file.js';
export type { FileKind } from './file.js';
export { Journal } from './journal.js';
export { Snapshot } from './snapshot.js';
export { inTransaction, pastLocks } from './transaction.js';
