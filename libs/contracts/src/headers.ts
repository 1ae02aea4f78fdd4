/**
 * Names the dead letter, as `partition/offset`, on the record that was re-driven from it. It proves nothing; the
 * ledger does.
 */
export const redriveHeader = 'sluice-redrive';
