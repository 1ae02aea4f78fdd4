import type { Incoming } from '@sluice/bus';
import { hashOf } from '../chain.js';
import { chainOf } from '../sources.js';

/**
 * Whether a record of agent.audit belongs to the chain that it names: one whose chain was changed still stands under
 * the key of its own.
 */
export function isOfItsChain({ record, key }: Pick<Incoming<'agent.audit'>, 'record' | 'key'>): boolean {
  return key === '' || key === chainNamedBy(record) || hashOf(record) === record.hash;
}

export function chainNamedBy({ sourceTopic, sourcePartition }: Incoming<'agent.audit'>['record']): string {
  return chainOf({ topic: sourceTopic, partition: sourcePartition });
}

/** The chain that a record of agent.audit is held against. */
export function chainHolding(message: Pick<Incoming<'agent.audit'>, 'record' | 'key'>): string {
  return isOfItsChain(message) ? chainNamedBy(message.record) : message.key;
}
