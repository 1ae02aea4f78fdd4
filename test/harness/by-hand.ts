import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Topic } from '@sluice/contracts';
import type { Incoming, SqliteBus } from '@sluice/bus';
import { createLog, openRuntime, startService } from '@sluice/host';
import type { OpenRuntime, Service } from '@sluice/host';
import { createToolSource } from '@sluice/sources';
import type { ToolContract } from '@sluice/tools';
import { startAgent } from '../../apps/agent/src/agent.module.js';
import { startAudit } from '../../apps/audit/src/audit.module.js';
import { ExecutorModule } from '../../apps/executor/src/executor.module.js';
import { Toolbox } from '../../apps/executor/src/toolbox.js';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { applyTo } from './applied.js';
import { compiled, environmentIn } from './with-tools.js';

const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

type Role = 'filter' | 'agent' | 'executor' | 'audit';

/** Services on one log, each started and stopped when the test says so. */
export interface ByHand {
  readonly folder: string;
  readonly open: OpenRuntime;
  readonly bus: SqliteBus;
  /** Starts a service; on a runtime of its own with these keys, as SLUICE_KEYS has them, if any are given. */
  start(role: Role, keys?: string): Promise<void>;
  stop(role: Role): Promise<void>;
  request(requestId: string, more?: Partial<AgentRequest>): Promise<void>;
  responseOf(requestId: string): Promise<AgentResponse>;
  all<T extends Topic>(...wanted: T[]): Promise<Incoming<T>[]>;
  /** Resolves once the group has finished all that is on its topics. */
  caughtUp(role: Role, ...wanted: Topic[]): Promise<void>;
  lines(): string;
  close(): Promise<void>;
}

export async function startByHand(
  configuration: object,
  parts: { readonly contracts: readonly ToolContract[]; readonly model: Model },
): Promise<ByHand> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-by-hand-'));
  let lines = '';
  const log = createLog('info', { write: (line) => void (lines += line) });
  const opened: OpenRuntime[] = [];
  const openWith = async (keys?: string): Promise<OpenRuntime> => {
    const instance = `by-hand-${process.pid}-${opened.length}`;
    const secret = (variable: string) => (variable === 'SLUICE_KEYS' ? keys : undefined);
    const one = await openRuntime({ ...environmentIn(folder), secret, instance }, log);
    opened.push(one);
    return one;
  };
  const open = await openWith();
  const bus = open.runtime.bus as SqliteBus;
  const whole = compiled(configuration, parts);
  await applyTo(open.runtime, whole);
  await open.runtime.configurations.start();
  const models = { get: () => Promise.resolve(parts.model) };
  const running = new Map<Role, Service>();

  return {
    folder,
    open,
    bus,
    start: async (role, keys) => {
      const { runtime } = keys === undefined ? open : await openWith(keys);
      if (keys !== undefined) await runtime.configurations.start();
      const services = {
        filter: () => startFilter(runtime),
        agent: () => startAgent(runtime, models),
        audit: () => startAudit(runtime),
        executor: () => {
          class Tools extends Toolbox {
            override source(of: Parameters<Toolbox['source']>[0]) {
              return Promise.resolve(createToolSource(of, { contracts: parts.contracts, mcp: noServers }));
            }
          }
          return startService('executor', ExecutorModule.with(runtime, new Tools(runtime, noServers, models)), runtime);
        },
      };
      running.set(role, await services[role]());
    },
    stop: async (role) => {
      await running.get(role)?.close();
      running.delete(role);
    },
    request: async (requestId, more = {}) => {
      const asked = { ...newRequest('Go', { requestId, sessionId: requestId }), ...more };
      await bus.publish([{ topic: topics.requests, key: requestId, record: asked }]);
    },
    responseOf: async (requestId) => {
      const signal = AbortSignal.timeout(120_000);
      for await (const message of bus.read([topics.responses], { from: 'start', follow: true, signal }))
        if (message.record.requestId === requestId) return message.record;
      throw new Error(`The run ${requestId} did not end within 2 minutes.`);
    },
    all: async (...wanted) => {
      const found = [];
      for await (const message of bus.read(wanted, { from: 'start' })) found.push(message);
      return found;
    },
    caughtUp: async (role, ...wanted) => {
      for (const until = Date.now() + 60_000; ;) {
        const lag = await bus.groupLag(role, wanted);
        if (lag.every(({ records }) => records === 0)) return;
        if (Date.now() > until) throw new Error(`${role} did not catch up within 60 s.`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    lines: () => lines,
    close: async () => {
      for (const service of running.values()) await service.close();
      for (const one of opened.toReversed()) await one.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
