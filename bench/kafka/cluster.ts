import { readFileSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { openProcesses } from '../processes.js';
import type { Infrastructure } from './infrastructure.js';
import { variablesOf } from './services.js';

export type Role = 'filter' | 'agent' | 'executor' | 'mcp';

/** A service as a process of its own, built, as a user runs it. */
export interface Instance {
  readonly role: Role;
  readonly process: ChildProcess;
  /** Where MCP clients connect to that role; empty of the others. */
  readonly url: string;
  /** Resident memory, MB. */
  residentMb(): number;
  stop(): Promise<void>;
}

export interface Cluster {
  readonly prefix: string;
  readonly brokers: readonly string[];
  /** Resolves when it serves. */
  start(role: Role): Promise<Instance>;
  close(): Promise<void>;
}

/** Services as processes on the given infrastructure, under a prefix of their own and one configuration. */
export async function openCluster(parts: Infrastructure, configuration: string): Promise<Cluster> {
  const prefix = `bench-${Date.now()}-`;
  const processes = await openProcesses({ ...variablesOf(parts, prefix), SLUICE_MCP_PORT: '0' }, configuration);
  return {
    prefix,
    brokers: parts.brokers,
    start: async (role) => {
      const { process, doors, stop } = await processes.start(role);
      const residentMb = (): number => {
        const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
        return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024;
      };
      return { role, process, url: doors.mcp, residentMb, stop };
    },
    close: () => processes.close(),
  };
}
