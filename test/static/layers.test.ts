import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const read = (pattern: string): readonly { readonly path: string; readonly text: string }[] =>
  globSync(pattern, { cwd: root })
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ path }) => !path.includes('/probe-'))
    .sort((one, other) => one.path.localeCompare(other.path));
const files = read('{libs,apps}/*/src/**/*.ts');
const holding = (pattern: RegExp, within: string = ''): readonly string[] =>
  files.filter(({ path, text }) => path.startsWith(within) && pattern.test(text)).map(({ path }) => path);

describe('each layer in one place (spec/tool-use.md §1)', () => {
  it('the loop over model and tools: the agent alone asks a model for a turn, the executor alone runs a tool (T-06a, S-03)', () => {
    expect(holding(/\.turn\(/, 'apps/')).toEqual([
      'apps/agent/src/agent.service.ts',
      // What the tool text-completion and servers in the middle of a call ask: no tools, and no loop.
      'apps/executor/src/model-for-tools.ts',
      // `sluice check --model`: one question without tools, and no loop.
      'apps/sluice/src/system/ask-models.ts',
    ]);
    expect(holding(/\brunTool[(<]/)).toEqual(['libs/core/src/tool/run-tool.ts', 'libs/run/src/turn/run-call.ts']);
  });

  it('what is offered comes from one evaluator, made where configurations are loaded, and asked by filter and executor (C-04, C-05, K-24)', () => {
    expect(holding(/compileEvaluator\(/)).toEqual([
      // Those that run nothing: what would be decided, and what was.
      'apps/gateway/src/configurations/what-if.ts',
      'apps/sluice/src/commands/explain.ts',
      'apps/sluice/src/commands/groups.ts',
      'apps/sluice/src/commands/recommend.ts',
      'apps/sluice/src/commands/replay.ts',
      'apps/sluice/src/commands/tokens.ts',
      'apps/sluice/src/commands/tools.ts',
      'apps/sluice/src/dry-call.ts',
      'apps/sluice/src/generate.ts',
      'libs/configuration/src/description/matrix.ts',
      // The same one, with the groups, models and limits of a named agent.
      'libs/core/src/rules/agent-view.ts',
      'libs/core/src/rules/evaluate.ts',
      // The same one, without what rules ask for and a list does not know.
      'libs/core/src/rules/partly-known.ts',
      'libs/replay/src/configurations.ts',
      'libs/run/src/configuration/configurations.ts',
      'libs/run/src/explain-caller.ts',
    ]);
    // The proxy holds the tools of a request that the configuration has to the same rules; the command counts what
    // they take.
    expect(holding(/\bevaluator\.evaluate\(/)).toEqual([
      'apps/proxy/src/rights.ts',
      'apps/sluice/src/commands/tokens.ts',
      'libs/configuration/src/description/matrix.ts',
      'libs/core/src/rules/explain.ts',
      'libs/run/src/decide-tools.ts',
      'libs/run/src/explain-caller.ts',
    ]);
  });

  it('no service exists whose job is to register tools; bindings are made in the executor’s composition root (C-11, T-34a, X-24)', () => {
    expect(holding(/class \w*(?:ToolRegistry|RegistryService)\b/)).toEqual([]);
    expect(holding(/\bcreateToolSource\(/, 'apps/')).toEqual(['apps/executor/src/toolbox.ts']);
  });

  it('what fits tools to a model stands in the library of wires: no service, no tool file knows a provider’s wire (T-02d, T-08b, T-11a, XB-15)', () => {
    const providers = /\btool_use\b|\bfunctionCall\b|\btoolUse\b|\bfunction_call\b|\btoolConfig\b/;
    // The doors name the parameters of these wires that they refuse, by their old names too.
    const speaking = ['libs/wires/src/', 'apps/gateway/src/doors/parameters.ts'];
    const elsewhere = holding(providers).filter((path) => !speaking.some((part) => path.startsWith(part)));
    expect(elsewhere).toEqual([]);
    const assembling = /\btool_call_delta\b|\binput_json_delta\b|\bfunction_call_arguments\b|\bcontentBlockDelta\b/;
    const assemblers = holding(assembling);
    expect(assemblers.length).toBeGreaterThan(0);
    // Screens take a tool out of a stream and assemble nothing.
    expect(assemblers.filter((path) => !/^libs\/wires\/src\/(?:codecs|screen)\//.test(path))).toEqual([]);
  });

  it('there is one event stream (T-07b, S-02)', () => {
    // MCP and the providers’ APIs, at the doors too, have event streams of their own.
    const outside = ['libs/hub/src/', 'libs/wires/src/', 'apps/gateway/src/doors/', 'apps/mcp/src/standing-streams.ts'];
    const ours = (pattern: RegExp) =>
      holding(pattern).filter((path) => !outside.some((folder) => path.startsWith(folder)));
    expect(ours(/[`'"]data: |content-type\W+text\/event-stream/i)).toEqual([]);
    // The one stream there is comes from the published encoder.
    expect(ours(/AssistantTransportEncoder\(/)).toEqual(['apps/gateway/src/stream/run-stream.ts']);
    expect(ours(/\bevent-?stream\b/i)).toEqual([
      'apps/gateway/src/openapi/areas/approvals/operations.ts',
      'apps/gateway/src/openapi/areas/audit/operations.ts',
      'apps/gateway/src/openapi/areas/configurations/operations.ts',
      'apps/gateway/src/openapi/areas/runs/operations.ts',
      'apps/gateway/src/prefers.ts',
      'apps/mcp/src/sessions.ts',
      'apps/sluice/src/commands/start.ts',
      'libs/mcp/src/accepted.ts',
    ]);
  });

  it('a tool gives one result and no parts of one: nothing that runs or binds a tool takes a stream (K-69)', () => {
    const streams = /AsyncIterable|AsyncGenerator|async \*|for await|ReadableStream/;
    const tools = [
      'libs/core/src/tool/',
      'libs/tools/src/binding/',
      'libs/tools/src/contract.ts',
      'libs/sources/src/',
      'libs/packs/src/general/',
    ];
    for (const part of tools) expect(holding(streams, part)).toEqual([]);
    expect(holding(streams, 'libs/packs/src/').filter((path) => path.includes('/tools/'))).toEqual([]);
    expect(holding(/'tool_call_result'/, 'apps/')).toEqual(['apps/executor/src/turn-progress.ts']);
  });

  it('a service speaks no Express: its controller reads what came, and hands over an answer', () => {
    const services = files.filter(({ path }) => /^apps\/.*\.service\.ts$/.test(path));
    expect(services.length).toBeGreaterThan(5);
    const speaking = services.filter(({ text }) => /from '(?:express|@nestjs\/platform-express)'/.test(text));
    expect(speaking.map(({ path }) => path)).toEqual([]);
  });

  it('calls of one turn run one after another: none run at once (K-68)', () => {
    const [turn] = files.filter(({ path }) => path === 'apps/executor/src/turn.ts');
    expect(turn?.text).toBeDefined();
    expect(turn?.text).not.toMatch(/Promise\.(?:all|allSettled|race|any)\(/);
  });

  it('the hash of records is made in one place', () =>
    expect(holding(/function sha256\(text/)).toEqual(['libs/contracts/src/digest.ts']));
});
