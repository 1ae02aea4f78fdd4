import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startMcp } from '../../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../../apps/mcp/src/mcp.module.js';
import { findPackages, finish } from '../../cluster/outside-tools.js';
import type { Tool } from '../../cluster/outside-tools.js';
import { startDoors } from '../../doors/with-doors.js';
import type { DoorSystem } from '../../doors/with-doors.js';
import { calls, projectRoot } from '../../harness/configurations.js';
import { inOrder } from '../../harness/system.js';
import { startStandIn } from './stand-in.js';

const page = readFileSync(join(projectRoot, 'docs/bring-your-agent.md'), 'utf8');

/** The programs of the page, by the title that they stand under. */
const programs = [...page.matchAll(/^##+ (.+)\n([^]*?)(?=\n##+ |$(?![^]))/gm)].flatMap(([, title = '', text = '']) =>
  [...text.matchAll(/```(python|js)\n([^]*?)```/g)].map(([, language, program = ''], index) => ({
    ...{ title, index, language, program },
  })),
);
const packagesOf = (framework: string): readonly string[] => {
  const row = new RegExp(`^\\| ([^|]*\\b${framework}\\b[^|]*) \\| (.*) \\|$`, 'm').exec(page)?.[2] ?? '';
  return [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
};

const answer = 'France, Germany, Austria, Liechtenstein and Italy.';
const folder = mkdtempSync(join(tmpdir(), 'sluice-frameworks-'));
let doors: DoorSystem;
let mcp: McpService;
let standIn: Awaited<ReturnType<typeof startStandIn>>;
beforeAll(async () => {
  doors = await startDoors();
  doors.model.script = inOrder({ thought: 'I look.', calls: [calls.query] }, { answer });
  mcp = await startMcp(doors.system.embedded.runtime);
  standIn = await startStandIn();
});
afterAll(async () => {
  await standIn.close();
  await mcp.close();
  await doors.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What the program prints, at this test’s own addresses. */
async function printed(tool: Tool, name: string, program: string): Promise<string> {
  if ('missing' in tool) throw new Error(tool.missing);
  const path = join(folder, name);
  writeFileSync(
    path,
    program.replaceAll('http://127.0.0.1:8091', doors.gateway.url).replaceAll('http://127.0.0.1:8093/mcp', mcp.url),
  );
  const keys = { OPENAI_API_KEY: 'any', OPENAI_BASE_URL: standIn.url, CREWAI_TRACING_ENABLED: 'false' };
  const env = { ...process.env, ...tool.variables, ...keys, OTEL_SDK_DISABLED: 'true' };
  const { code, output, errors } = await finish(tool.command, [path], env, 200_000);
  expect([code, code === 0 ? '' : output + errors]).toEqual([0, '']);
  return output;
}

/** How often the tools of Sluice ran. */
const ran = async (): Promise<number> => (await doors.system.all('agent.steps')).length;

const frameworks = ['LangGraph', 'LangChain', 'OpenAI Agents', 'pydantic-ai', 'CrewAI'];
describe.each(frameworks)('%s', (framework) => {
  it('does what the page says', async () => {
    const tool = await findPackages([...packagesOf(framework)], `sluice-framework-${framework.replaceAll(/\W/g, '')}`);
    const own = programs.filter(({ title, language }) => title === framework && language === 'python');
    expect(own).toHaveLength(1);
    const before = await ran();
    const output = await printed(tool, `${framework}.py`, own[0]?.program ?? '');
    expect(output).toContain(/8093/.test(own[0]?.program ?? '') ? 'It says:' : answer);
    expect(await ran()).toBeGreaterThan(before);
  }, 900_000);
});

describe('the AI SDK', () => {
  const own = programs.filter(({ title, language }) => title === 'AI SDK' && language === 'js');

  it('has the versions that these tests have', () => {
    const { devDependencies: has } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    for (const name of packagesOf('AI SDK')) {
      const at = name.lastIndexOf('@');
      expect([name, has[name.slice(0, at)]]).toEqual([name, name.slice(at + 1)]);
    }
  });

  it.each(own.map(({ program }, index) => [index === 0 ? 'the tools of Sluice' : 'an agent of Sluice', program]))(
    'has %s',
    async (_, program) => {
      const before = await ran();
      // From here the program finds the packages of the project.
      const here = program.replaceAll(/from '([^']+)'/g, (__, name: string) => `from '${import.meta.resolve(name)}'`);
      const output = await printed({ command: process.execPath, variables: {} }, 'program.mjs', here);
      expect(output).toContain(/8093/.test(program) ? 'It says:' : answer);
      expect(await ran()).toBeGreaterThan(before);
    },
  );
});
