/** Where the ledger says what an operator must know; quiet in normal operation. */
export type LedgerLog = (
  level: 'info' | 'warn' | 'error',
  message: string,
  details: Readonly<Record<string, unknown>>,
) => void;
