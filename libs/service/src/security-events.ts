import type { SecurityFault } from '@sluice/core';
import type { Dead } from '@sluice/bus';
import type { Runtime } from './runtime.js';

/** What an operator reads of a forged record, and what is counted. */
export function reportSecurityEvent(
  dead: Dead,
  code: SecurityFault,
  { log, metrics }: Pick<Runtime, 'log' | 'metrics'>,
) {
  const { topic, partition, offset, reason, message } = dead;
  const about = message === null ? null : message.record;
  const requestId = about !== null && 'requestId' in about ? about.requestId : null;
  log.error(
    { topic, partition, offset, code, reason, request_id: requestId },
    'a record that is not its run’s own was quarantined; find out who wrote it',
  );
  switch (code) {
    case 'groups_widened':
      return metrics.escalationAttempts.inc();
    case 'state_altered':
      return metrics.invalidTransitions.inc();
    case 'grant_invalid':
    case 'continuation_invalid':
    case 'signature_invalid':
    case 'replayed':
      return;
  }
}
