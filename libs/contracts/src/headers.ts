/**
 * Names the dead letter, as `partition/offset`, on the record that was re-driven from it. It proves nothing; the
 * ledger does.
 */
export const redriveHeader = 'sluice-redrive';

/**
 * Names the place on agent.requests, as `agent.requests/partition/offset`, on the record that the filter passed on to
 * agent.calls. It proves nothing; the record there has the same content.
 */
export const passedOnHeader = 'sluice-passed-on';
