import type { Principal } from '@sluice/records';
import { requestIds } from './request-ids.js';
import type { RecordOf, Topic } from './topics.js';

/** A record where it stands on the log. */
export type Placed<T extends Topic = Topic> = {
  [K in T]: {
    readonly topic: K;
    readonly partition: number;
    readonly offset: number;
    readonly key: string;
    readonly record: RecordOf<K>;
  };
}[T];

/** The run and the session that a record is of. */
export interface RunIds {
  readonly requestId: string;
  readonly sessionId: string;
}

/** What a topic’s records say of their run. */
interface Facts<T extends Topic> {
  /** Null for a record of no run. */
  readonly ids: (message: Placed<T>) => RunIds | null;
  /** For whom the run is; null where the record says that this is not known, undefined where it does not say. */
  readonly principal: (record: RecordOf<T>) => Principal | null | undefined;
  /** The tenant of the run; null where the record does not say. */
  readonly tenant: (record: RecordOf<T>) => string | null;
}

const ofRun = ({ record }: { readonly record: RunIds }): RunIds | null =>
  record.requestId === '' ? null : { requestId: record.requestId, sessionId: record.sessionId };
const none = (): null => null;
const unsaid = (): undefined => undefined;

const onTheLoop = {
  ids: ofRun,
  principal: ({ run }: { readonly run: { readonly principal: Principal | null } }) => run.principal ?? undefined,
  tenant: ({ run }: { readonly run: { readonly principal: Principal | null } }) => run.principal?.tenantId ?? null,
};
const ofNoRun = { ids: none, principal: unsaid, tenant: none };

/** One row a topic: all that reads a run off records goes by this. */
const facts: { readonly [T in Topic]: Facts<T> } = {
  'agent.requests': { ids: (message) => requestIds(message, message.record), principal: unsaid, tenant: none },
  'agent.toolsets': onTheLoop,
  'agent.tool-calls': onTheLoop,
  'agent.steps': onTheLoop,
  'agent.responses': {
    ids: ofRun,
    principal: ({ run }) => (run === null ? null : (run.principal ?? undefined)),
    tenant: ({ run, tenantId }) => run?.principal?.tenantId ?? tenantId,
  },
  'agent.progress': { ids: ofRun, principal: unsaid, tenant: ({ tenantId }) => tenantId },
  'agent.approvals': {
    ids: ({ record: { requested, decided, outcome } }) => {
      const one = requested ?? decided ?? outcome;
      return one === null ? null : ofRun({ record: one });
    },
    principal: unsaid,
    tenant: ({ requested }) => requested?.tenantId || null,
  },
  'agent.audit': { ids: ofRun, principal: unsaid, tenant: none },
  'agent.dead-letters': ofNoRun,
  'agent.config': ofNoRun,
  'agent.discovery': {
    ids: (message) => (message.record.source === 'agent' ? ofRun(message) : null),
    principal: unsaid,
    tenant: ({ tenantId }) => tenantId || null,
  },
  // A refused request became no run, whatever id it names.
  'agent.denials': { ids: none, principal: unsaid, tenant: ({ tenantId }) => tenantId },
  'agent.cancellations': {
    ids: ({ record, key }) => ofRun({ record: { ...record, sessionId: record.sessionId || key } }),
    principal: unsaid,
    tenant: ({ outcome }) => outcome?.tenantId || null,
  },
};

/** The run and the session that a record is of; null for a record of no run. */
export function runIdsOf(message: Placed): RunIds | null {
  return (facts[message.topic] as Facts<Topic>).ids(message);
}

/** For whom a record’s run is; null where that is not known, undefined where the record does not say. */
export function principalOf({ topic, record }: Placed): Principal | null | undefined {
  return (facts[topic] as Facts<Topic>).principal(record);
}

/** The tenant that a record says it is of; null where it does not say. */
export function tenantOf({ topic, record }: Placed): string | null {
  return (facts[topic] as Facts<Topic>).tenant(record);
}
