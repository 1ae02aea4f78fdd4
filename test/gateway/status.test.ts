import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

interface Status {
  readonly config_version: string;
  readonly bus: string;
  readonly roles: readonly { readonly role: string; readonly lag: number | null }[];
  readonly checks: readonly { readonly name: string; readonly ok: boolean }[];
  readonly runs: { readonly running: number; readonly overdue: number; readonly oldest_at: number | null };
  readonly approvals: { readonly waiting: number };
  readonly dead_letters: { readonly last_day: number };
}

describe('how the installation stands, over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let release = (): void => undefined;
  beforeAll(async () => {
    const held = new Promise<void>((resolve) => (release = resolve));
    const model = new ScriptedModel(async () => {
      await held;
      return { answer: 'done' };
    });
    system = await startSystem(workflowConfiguration(), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    release();
    await gateway.close();
    await system.close();
  });

  const status = async (): Promise<Status> => {
    const answer = await fetch(`${gateway.url}/v1/status`, { headers: localHeaders(system.embedded.runtime) });
    return (await answer.json()) as Status;
  };

  it('has the lag of each role, what runs and waits, and what this process stands on', async () => {
    await post(`${gateway.url}/v1/runs`, { question: 'Hold', group: ['*'] });
    const busy = await eventually(status, ({ runs }) => runs.running === 1);
    expect(busy.roles.map(({ role }) => role)).toEqual(['filter', 'agent', 'executor', 'audit']);
    expect(busy.roles.find(({ role }) => role === 'agent')?.lag).toBe(1);
    expect(busy).toMatchObject({ bus: 'sqlite', runs: { overdue: 0, oldest_at: expect.any(Number) } });
    expect(busy).toMatchObject({ approvals: { waiting: 0 }, dead_letters: { last_day: 0 } });
    expect(busy.checks.every(({ ok }) => ok)).toBe(true);
    expect(busy.config_version).toBe(system.embedded.runtime.configurations.current().configuration.version);
    release();
    const isIdle = ({ runs, roles }: Status) => runs.running === 0 && roles.every(({ lag }) => lag === 0);
    const idle = await eventually(status, isIdle);
    expect(idle.runs.oldest_at).toBeNull();
  });

  it('names a run that nothing has ended behind its deadline', async () => {
    const { bus, clock } = system.embedded.runtime;
    const all = await system.all('agent.toolsets');
    const { record } = all[0] as (typeof all)[number];
    const run = { ...record.run, deadline: clock.now() - 120_000 };
    // The services take no second record of a turn; the lists take it for a run of its own.
    await bus.publish([{ topic: 'agent.toolsets', key: 'late', record: { ...record, requestId: 'late', sessionId: 'late', run } }]); // prettier-ignore
    const found = await eventually(status, ({ runs }) => runs.overdue > 0);
    expect(found.runs).toMatchObject({ overdue: 1, overdue_runs: [{ tenant: 'local', request_id: 'late' }] });
  });
});
