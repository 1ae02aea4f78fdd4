import { logLevel } from 'kafkajs';
import type { logCreator } from 'kafkajs';
import type { BusLog } from '../../port.js';

/**
 * The same line again is left out for so long, milliseconds: kafkajs says the same of every connection and every
 * attempt.
 */
const silenceMs = 30_000;
const maxRemembered = 200;

/** What kafkajs warns of although it belongs to normal operation here. */
const routine: readonly RegExp[] = [
  // The markers of the transaction before are still being written; it is tried again after 2 ms.
  /another concurrent operation on the same transaction/,
  /group is rebalancing/i,
  /Topic with this name already exists/,
  // Who only reads, or decides on approvals, has no right to see the topics' settings. A service that has none says
  // so itself.
  /Response DescribeConfigs\(.*Not authorized/,
];

/** kafkajs’s own warnings and errors, as warnings: whether something has to be done is the bus’s to say. */
export function quietLog(log: BusLog): logCreator {
  const said = new Map<string, number>();
  return () => (entry) => {
    if (entry.level > logLevel.WARN) return;
    const { message, error, groupId, broker } = entry.log;
    const text = [message, error].filter((part) => typeof part === 'string').join(': ');
    if (routine.some((pattern) => pattern.test(text))) return;
    const now = performance.now();
    if (now - (said.get(text) ?? -Infinity) < silenceMs) return;
    if (said.size >= maxRemembered) said.clear();
    said.set(text, now);
    log('warn', `kafkajs: ${text}`, { from: entry.namespace, ...(groupId && { groupId }), ...(broker && { broker }) });
  };
}
