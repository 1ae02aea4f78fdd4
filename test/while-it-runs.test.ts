import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calls, projectRoot, workflowConfiguration } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';

describe('a configuration that changes while the system runs (G-179, XG-30, T-19a)', () => {
  it('takes force without a restart; a bad one is refused with all its problems and the old one stays', async () => {
    const model = new ScriptedModel(inOrder());
    const system = await startSystem(workflowConfiguration(), model);
    try {
      const version = () => system.embedded.runtime.configurations.current().configuration.version;
      const offered = async () => {
        await system.ask({ group: ['read-only'] });
        return model.asked.at(-1)?.tools.length;
      };
      const first = version();
      expect(await offered()).toBe(2);

      await writeFile(
        system.configFile,
        workflowConfiguration({ allowed: 'knowledge-query, nope' }).replace('group: ["admin"]', 'group: "admin"'),
      );
      const refused = await eventually(
        async () => (await system.lines()).find((line) => JSON.stringify(line).includes('is refused')),
        (line) => line !== undefined,
      );
      const [, ...problems] = String(refused?.['msg']).split('\n');
      expect(problems.map((problem) => problem.split(': ')[0]?.replace(/^\S+ /, '')).sort()).toEqual([
        expect.stringContaining('policy.allowed_tools'),
        expect.stringContaining('tool.reset-workflow.group'),
      ]);
      expect(version()).toBe(first);
      expect(await offered()).toBe(2);

      await writeFile(system.configFile, workflowConfiguration({ allowed: 'knowledge-query' }));
      await eventually(
        async () => version(),
        (now) => now !== first,
      );
      expect(await offered()).toBe(1);
      expect((await system.all('agent.config')).map(({ record }) => record.version)).toEqual([first, version()]);
    } finally {
      await system.close();
    }
  });

  it('does not let a running turn use what the new one denies: the one in force may only deny', async () => {
    const model = new ScriptedModel(inOrder());
    const system = await startSystem(workflowConfiguration(), model);
    try {
      const first = system.embedded.runtime.configurations.current().configuration.version;
      model.script = async ({ history }) => {
        if (history.length > 0) return { answer: 'done' };
        await writeFile(system.configFile, workflowConfiguration({ allowed: 'text-completion' }));
        await eventually(
          async () => system.embedded.runtime.configurations.current().configuration.version,
          (now) => now !== first,
        );
        return { calls: [calls.query] };
      };
      const response = await system.ask({ group: ['read-only'] });
      expect(response.history[0]).toMatchObject({ outcome: 'policy_denied', reason: 'not_allowed' });
    } finally {
      await system.close();
    }
  });
});

describe('an MCP server that will not start', () => {
  it('leaves its tools unavailable and everything else at work, and is tried again (M-104)', async () => {
    const model = new ScriptedModel(inOrder({ calls: [calls.query] }, { calls: [calls.analysis] }));
    const folder = mkdtempSync(join(tmpdir(), 'sluice-server-'));
    const server = join(folder, 'server.mjs');
    const system = await startSystem(workflowConfiguration({ server }), model);
    try {
      const response = await system.ask({ requestId: 'without', group: ['*'] });
      expect(response.history.map((step) => step.outcome)).toEqual(['ok', 'unavailable']);
      const toolsets = (await system.all('agent.toolsets')).filter(({ record }) => record.requestId === 'without');
      expect(toolsets[1]?.record.hidden).toContainEqual({ key: 'complex-analysis', reasons: ['unavailable'] });

      await writeFile(server, `import ${JSON.stringify(join(projectRoot, 'examples/analysis-server/server.mjs'))};\n`);
      await eventually(
        async () => system.embedded.runtime.configurations.current().evaluator.tool('complex-analysis')?.spec ?? null,
        (spec) => spec !== null,
      );
      expect((await system.ask({ group: ['*'] })).history.map((step) => step.outcome)).toEqual(['ok', 'ok']);
    } finally {
      await system.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a restart', () => {
  it('goes on with the runs that were under way, and knows the former configurations', async () => {
    let hold: (() => void) | undefined;
    const model = new ScriptedModel(({ history }) =>
      history.length > 0
        ? { answer: 'done' }
        : new Promise((resolve) => (hold = () => resolve({ calls: [calls.query] }))),
    );
    const first = await startSystem(workflowConfiguration(), model);
    void first.ask({ requestId: 'over-a-restart', group: ['read-only'] }).catch(() => undefined);
    await eventually(
      async () => hold,
      (held) => held !== undefined,
    );
    model.script = inOrder({ calls: [calls.query] });
    const second = await first.restart();
    try {
      expect(await second.responseOf('over-a-restart')).toMatchObject({ kind: 'answer', iterations: 2 });
    } finally {
      await second.close();
    }
  });
});
