import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { createLog } from '@sluice/host';
import { readEvaluation } from '../../apps/sluice/src/eval/cases.js';
import { columnsOf } from '../../apps/sluice/src/eval/columns.js';
import { summaries } from '../../apps/sluice/src/eval/result.js';
import { runCases } from '../../apps/sluice/src/eval/run-cases.js';
import { configurationOf } from '../../apps/sluice/src/system/compile-once.js';
import { startSystem } from '../harness/system.js';
import { ScriptedModel } from '../harness/system.js';
import { writeArchive, selectRecords } from '@sluice/archive';
import { openSample } from './sample.js';
import type { Sample } from './sample.js';

interface Results {
  readonly passed: boolean;
  readonly summary: readonly { strategy: string; model: string; cases: number; passed: number; steps: number }[];
  readonly cases: readonly { name: string; strategy: string; passed: boolean; failures: readonly string[] }[];
}

describe('sluice eval', () => {
  let sample: Sample;
  let recording: string;
  beforeAll(async () => {
    sample = await openSample();
    recording = join(sample.folder, 'recording.sluice');
  });
  afterAll(() => sample.close());

  const results = async (...args: string[]): Promise<{ code: number; results: Results }> => {
    const { code, output } = await sample.eval(...args, '--json');
    return { code, results: JSON.parse(output) as Results };
  };

  it('runs the sample’s cases with the built-in rules, and all pass', async () => {
    const { code, output } = await sample.eval(sample.cases);
    expect(output).toMatch(/^strategy +model +passed +accuracy +steps +tokens in +tokens out +cost +time$/m);
    expect(output).toMatch(/^react +rules +6 of 6 +100 % +1\.3 +0 +0 +no price +\d+ ms$/m);
    expect(output).not.toContain('✗');
    expect(code).toBe(0);
  });

  it('compares strategies on the same cases, records their runs, and ends with 1 where one fails', async () => {
    const junit = join(sample.folder, 'junit.xml');
    const asked = ['--strategy', 'react,plan', '--record', recording, '--junit', junit];
    const { code, results: found } = await results(sample.cases, ...asked);
    expect(found.summary.map(({ strategy, cases, passed }) => [strategy, cases, passed])).toEqual([
      ['react', 6, 6],
      ['plan', 6, 5],
    ]);
    // The rules plan without results, so they leave out the comparison that rests on them.
    const [failed, ...others] = found.cases.filter(({ passed }) => !passed);
    expect(others).toEqual([]);
    expect([failed?.name, failed?.strategy]).toEqual(['workflow', 'plan']);
    expect(failed?.failures[0]).toContain('not knowledge-query, complex-analysis, reset-workflow.');
    expect([code, found.passed]).toEqual([1, false]);
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain('<testsuites name="sluice eval" tests="12" failures="1">');
    expect(xml).toContain('<testsuite name="plan, rules" tests="6" failures="1"');
    expect(xml.match(/<testcase /g)).toHaveLength(12);
  });

  it('decides recorded runs again without a model, and checks them by what is expected now', async () => {
    const text = readFileSync(sample.cases, 'utf8');
    const other = sample.write('other.yaml', text.replace('contains: Tokyo', 'contains: Kyoto'));
    const { code, results: found } = await results(other, '--recorded', recording, '--case', 'capital,time');
    expect(found.cases.map(({ name, strategy, passed }) => [name, strategy, passed])).toEqual([
      ['capital', 'react', false],
      ['time', 'react', true],
      ['capital', 'plan', false],
      ['time', 'plan', true],
    ]);
    expect(found.cases[0]?.failures).toEqual([expect.stringContaining('The answer does not have “Kyoto”.')]);
    expect(code).toBe(1);
    const missing = sample.write('missing.yaml', text.replace('name: capital', 'name: capitals'));
    await expect(sample.eval(missing, '--recorded', recording)).rejects.toThrow('has no run of these cases: capitals.');
  });

  it('takes a run that was made elsewhere as a case, and names what is derived otherwise', async () => {
    const model = new ScriptedModel(() => ({ answer: 'Because.' }));
    const system = await startSystem(
      'tool: { now: { type: get_current_time } }\npolicy: { allowed_tools: [now] }',
      model,
    );
    const exported = join(sample.folder, 'one.sluice');
    const changed = join(sample.folder, 'changed.sluice');
    try {
      await system.ask({ question: 'Why?', requestId: 'why-1', group: ['default'] });
      const selection = { from: null, to: null, session: null, tenant: null, topics: null };
      const none = new AbortController().signal;
      const archive = (file: string, change: (answer: string) => string) =>
        writeArchive(file, {
          ...{ selection, createdAt: 0, undecodable: () => 0 },
          records: (async function* () {
            for await (const message of selectRecords(system.bus, selection, () => undefined, none))
              yield message.topic === 'agent.responses'
                ? { ...message, record: { ...message.record, answer: change(message.record.answer ?? '') } }
                : message.topic === 'agent.toolsets'
                  ? { ...message, record: { ...message.record, state: change(message.record.state) } }
                  : message;
          })(),
        });
      await archive(exported, (text) => text);
      await archive(changed, (text) => `${text}!`);
    } finally {
      await system.close();
    }
    const cases = (file: string, name = 'why-1') =>
      sample.write(
        'recorded.yaml',
        `cases: [{ name: why, recorded: { run: ${name}, export: ${file} }, expect: { tools: [], answer: { contains: Because } } }]`,
      );
    expect((await results(cases(exported))).results.cases).toMatchObject([{ name: 'why', passed: true }]);
    const { code, results: found } = await results(cases(changed));
    expect(found.cases[0]?.failures.join('\n')).toMatch(
      /The decision at agent\.toolsets\/0\/0 \(tools\) is derived otherwise/,
    );
    expect(code).toBe(1);
    await expect(sample.eval(cases(exported, 'other'))).rejects.toThrow('names the run other, which is not on the log');
  });

  it('sums up tokens and what they cost, for each model of the configuration', async () => {
    const config = sample.write(
      'models.yaml',
      `tool: { now: { type: get_current_time } }
policy: { allowed_tools: [now] }
model:
  - { provider: openai-compatible, name: small, base_url: "http://127.0.0.1:9/v1", price: { input: 1, output: 2 } }
  - { provider: openai-compatible, name: large, base_url: "http://127.0.0.1:9/v1", price: { input: 10, output: 20 } }
`,
    );
    const file = sample.write(
      'two.yaml',
      'cases: [{ name: time, question: What time is it?, expect: { tools: [now], answer: { equals: Late. } } }]',
    );
    const environment = readEnvironment({ SLUICE_DATA: join(sample.folder, 'data') });
    const configuration = await configurationOf(config, { environment });
    const evaluation = readEvaluation(file);
    const columns = columnsOf(configuration, {
      models: ['openai-compatible/small', 'openai-compatible/large'],
      strategies: ['react'],
    });
    const right = new ScriptedModel(({ history }) =>
      history.length === 0 ? { calls: [['core__now', '{}']] } : { answer: 'Late.' },
    );
    const wrong = new ScriptedModel(() => ({ answer: 'Early.' }));
    const found = await runCases({
      ...{ configFile: config, configuration, columns, runMs: 60_000, record: null, environment },
      cases: evaluation.cases.filter((one) => one.kind === 'asked'),
      ...{ log: createLog('silent'), signal: new AbortController().signal, onResult: () => undefined },
      models: { get: ({ name }) => Promise.resolve(name === 'small' ? wrong : right) },
    });
    expect(summaries(found)).toMatchObject([
      { model: 'openai-compatible/small', passed: 0, steps: 0, inputTokens: 1, outputTokens: 1, usd: 0.000003 },
      { model: 'openai-compatible/large', passed: 1, steps: 1, inputTokens: 2, outputTokens: 2, usd: 0.00006 },
    ]);
    expect(() => columnsOf(configuration, { models: ['none'] })).toThrow(
      'There is no model none in the configuration. It has: openai-compatible/small, openai-compatible/large.',
    );
  });

  it.each([
    ['[', 'are no YAML'],
    ['cases: []', 'cases: Too small'],
    ['cases: [{ name: A, question: B }]', 'cases.0.name: write small letters, digits and hyphens'],
    ['cases: [{ name: a }]', 'cases.0: it has neither question nor recorded; write one of them'],
    ['cases: [{ name: a, question: b }, { name: a, question: c }]', 'cases.1.name: cases.0 has the name a too'],
    ['cases: [{ name: a, recorded: { run: r }, group: [x] }]', 'cases.0.group: a recorded run has its own'],
    ['cases: [{ name: a, question: b, history: [{ action: "" }] }]', 'history[0].action is empty'],
    ['cases: [{ name: a, question: b, expect: { answer: { matches: "(" } } }]', 'matches.0: is no regular expression'],
    ['cases: [{ name: a, question: b, expect: { answer: { json: { name: 1 } } } }]', '“name” is no path; write one as'],
    ['cases: [{ name: a, question: b }]\nstrategies: [best]', 'strategies.0: Invalid option'],
    ['cases: [{ name: a, question: b }]', 'No configuration is named.'],
  ])('says what is wrong with the file: %s', async (text, sentence) => {
    await expect(sample.eval(sample.write('bad.yaml', text))).rejects.toThrow(sentence);
  });

  it('refuses options that do not fit', async () => {
    const { cases } = sample;
    await expect(sample.eval()).rejects.toThrow('Give one file of cases.');
    await expect(sample.eval(cases, '--case', 'none')).rejects.toThrow('has no case none. It has: capital, ');
    await expect(sample.eval(cases, '--strategy', 'best')).rejects.toThrow('--strategy has "best"; there are: react');
    await expect(sample.eval(cases, '--record', 'a', '--recorded', 'b')).rejects.toThrow('Give one of them.');
  });
});
