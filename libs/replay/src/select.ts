import type { Topic } from '@sluice/contracts';
import type { Incoming, ReadFrom } from '@sluice/bus';
import { tenantOf } from '@sluice/run';
import { approvalRequestOf, tenantOfRun } from './about.js';
import type { RecordedConfigurations } from './configurations.js';
import type { RunRecords } from './run-records.js';

type KnownTools = Pick<RecordedConfigurations, 'hasTool'>;

/** Offsets of one partition, the last one included. */
export interface Offsets {
  readonly topic: Topic;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** Which decisions; null for what is not narrowed. Times are in milliseconds since the epoch, `to` is not included. */
export interface DecisionSelection {
  readonly from: number | null;
  readonly to: number | null;
  readonly offsets: Offsets | null;
  readonly session: string | null;
  readonly tenant: string | null;
  /** All names of a tool (`toolNames`). */
  readonly tool: readonly string[] | null;
}

export const everything: DecisionSelection = {
  from: null,
  to: null,
  offsets: null,
  session: null,
  tenant: null,
  tool: null,
};

/**
 * What a decision follows from is older than itself: a run takes a day at most, and a request may have waited before
 * it.
 */
const inputsMs = 2 * 24 * 3_600_000;

/** Where reading has to begin, so that the inputs of the selected decisions are read as well. */
export function readFrom({ from }: DecisionSelection): ReadFrom {
  return from === null ? 'start' : { time: Math.max(0, from - inputsMs) };
}

/**
 * Of which tenant and tool it is may stand in other records of its run, and in its configuration; while they are not
 * known (null), it may be selected.
 */
export function isSelected(
  message: Incoming,
  run: RunRecords | null,
  selection: DecisionSelection,
  configurations: KnownTools | null,
): boolean {
  const { from, to, offsets, session, tenant, tool } = selection;
  const { timestamp, topic, partition, offset, key } = message;
  if (from !== null && timestamp < from) return false;
  if (to !== null && timestamp >= to) return false;
  if (offsets !== null && (offsets.topic !== topic || offsets.partition !== partition)) return false;
  if (offsets !== null && (offset < offsets.from || offset > offsets.to)) return false;
  if (session !== null && key !== session) return false;
  if (tenant !== null && !isOfTenant(message, run, tenant)) return false;
  return tool === null || isAbout(message, run, tool, configurations);
}

function isOfTenant(message: Incoming, run: RunRecords | null, tenant: string): boolean {
  const own = tenantOf(message);
  if (own !== null) return own === tenant;
  return run === null || tenantOfRun(run) === tenant;
}

/** Whether the decision offers the tool or hides it, or is about a call of it. */
function isAbout(
  message: Incoming,
  run: RunRecords | null,
  names: readonly string[],
  configurations: KnownTools | null,
): boolean {
  switch (message.topic) {
    case 'agent.toolsets': {
      const { list, tools, hidden, configVersion } = message.record;
      // What a list does not offer it hides, whether the record names them or not.
      if (list !== null) return configurations?.hasTool(configVersion, names) ?? true;
      return [...tools, ...hidden].some(({ key }) => names.includes(key));
    }
    case 'agent.tool-calls':
      return message.record.calls.some(({ tool }) => names.includes(tool));
    case 'agent.steps':
      return (
        message.record.steps.some(({ action }) => names.includes(action)) ||
        (message.record.iteration === 0 && names.includes(message.record.run.parent?.tool ?? ''))
      );
    case 'agent.approvals':
      if (message.record.requested === null && run === null) return true;
      return names.includes(approvalRequestOf(message, run)?.tool ?? '');
    default:
      return false;
  }
}
