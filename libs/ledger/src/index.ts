export type { Belonging } from './belonging.js';
export type { DocumentedLedger, StoredLedger } from './documented.js';
export { examinePostgres, openPostgresLedger } from './open-postgres.js';
export type { PostgresLedger, TimeThere } from './postgres/ledger.js';
export type { ExaminedDatabase } from './postgres/examine.js';
export type { FurtherDatabase, PostgresLedgerOptions } from './postgres/open.js';
export { examineLedgerFile } from './sqlite/database.js';
export { openSqliteLedger } from './sqlite/ledger.js';
export type { SqliteLedger } from './sqlite/ledger.js';
