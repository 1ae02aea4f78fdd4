import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { compileConfiguration, configurationKeys } from '@sluice/configuration';
import { configurationSchema } from '../apps/sluice/src/configuration-schema.js';
import { schemaFile } from '../apps/sluice/src/commands/init.js';
import { sampleInputs, sampleTypes } from '../libs/configuration/test/sample-inputs.js';
import { command } from './harness/command.js';
import { projectRoot } from './harness/configurations.js';

const read = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');
const page = read('docs/configuration.md');
const schema = configurationSchema(page);
const isValid = new Ajv({ strictTypes: false }).compile(schema);

/** A file with this value at a place such as `mcp.servers.<server>.env`, and the place as a problem names it. */
function fileWith(place: string, value: unknown): { readonly file: unknown; readonly path: string } {
  const steps = place.split('.').flatMap((step) => (step.endsWith('[]') ? [step.slice(0, -2), '[]'] : [step]));
  const inner = steps.reduceRight<unknown>(
    (within, step) => (step === '[]' ? [within] : { [step.replace(/^<.*>$/, 'x')]: within }),
    value,
  );
  // What an agent is like is read of an agent alone, and what a plan is like of what takes plans.
  const type = /^tool\.<tool>\.(agent|plan)\b/.exec(place)?.[1];
  const file = type === undefined ? inner : { tool: { x: { type, ...(inner as { tool: { x: object } }).tool.x } } };
  return { file, path: place.replace(/<\w+>/g, 'x').replaceAll('[]', '[0]') };
}

/** The sample's types, and one that takes plans. */
const inputs = {
  ...sampleInputs,
  types: [
    ...sampleTypes,
    {
      type: 'plan',
      description: 'Takes a plan.',
      inputSchema: { type: 'object' },
      effect: 'read_only',
      redaction: { whole: true },
      repeatable: true,
    },
  ],
} as const;

/** First lines of what pages show of other programs: Helm, Kubernetes, Docker, evaluations. */
const ofOthers = /^(?:# values\.yaml|apiVersion:|patches:|services:|cases:|config:)/;
/** What is wrong with an excerpt alone: it names parts that stand elsewhere in the file. */
const ofAnExcerpt =
  /^nothing$|^the unknown (?:tool|group|type|server) |, which no tool is of$|, which is no (?:tool|agent)$|, which has no tools$|, and no tool that |and no (?:allowed tool|agent) that |uses none$/;

describe('the JSON Schema of the configuration', () => {
  it('is the one in the repository: run `npm run generate` after changing docs/configuration.md', () => {
    expect(JSON.parse(read(schemaFile))).toEqual(schema);
  });

  it('is printed by `sluice config schema`', async () => {
    const { code, output } = await command(['config', 'schema']);
    expect([code, JSON.parse(output)]).toEqual([0, schema]);
  });

  /** What an evaluation and a load take, and an API’s document, is no configuration. */
  const ofCommands: ReadonlySet<string> = new Set([
    ...[
      'examples/eval/cases.yaml',
      'examples/incident-desk/mix.yaml',
      'examples/load/mix.yaml',
      'examples/openapi/petstore.yaml',
    ],
  ]);
  const examples = globSync('examples/**/*.yaml', { cwd: projectRoot, exclude: ['**/node_modules'] })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !ofCommands.has(file));
  it.each(examples)('takes %s, which names it, as the compiler does', (file) => {
    const text = read(file);
    expect([isValid(parse(text)), isValid.errors]).toEqual([true, null]);
    const up = '../'.repeat(file.split('/').length - 1);
    expect(text.split('\n')[0]).toBe(`# yaml-language-server: $schema=${up}${schemaFile}`);
    const files = {
      ...inputs.files,
      read: (name: string) => (existsSync(join(projectRoot, name)) ? { text: read(name) } : inputs.files.read(name)),
    };
    const { problems } = compileConfiguration(parse(text), { ...inputs, files });
    expect(problems.filter(({ found }) => !ofAnExcerpt.test(found))).toEqual([]);
  });

  const pages = globSync(['*.md', 'docs/*.md', 'examples/**/*.md', 'packages/*/*.md'], {
    cwd: projectRoot,
    exclude: ['**/node_modules'],
  });
  const shown = pages.flatMap((file) =>
    [...read(file).matchAll(/```yaml\n([\s\S]*?)```/g)]
      .map(([, block = '']): [string, string, string] => [file, block.split('\n')[0] ?? '', block])
      .filter(([, first]) => !ofOthers.test(first)),
  );
  it.each(shown)('and the compiler take what %s shows: %s', (_, __, block) => {
    const file: unknown = parse(block);
    expect([isValid(file), isValid.errors]).toEqual([true, null]);
    const { problems } = compileConfiguration(file, inputs);
    expect(problems.filter(({ found }) => !ofAnExcerpt.test(found))).toEqual([]);
  });

  it.each(['agents: { default: { strategie: direct } }', 'limits: { max_iterations: many }', 'tool: { a: 1 }'])(
    'and the compiler refuse %s in a page, so the test can fail',
    (block) => {
      expect(isValid(parse(block))).toBe(false);
      const { problems } = compileConfiguration(parse(block), inputs);
      expect(problems.filter(({ found }) => !ofAnExcerpt.test(found))).not.toEqual([]);
    },
  );

  const places = Object.entries(configurationKeys).flatMap(([section, keys]) =>
    keys.map((key) => (section === '' ? key : `${section}.${key}`)),
  );
  it.each(places)('knows %s, and refuses there what the compiler refuses', (place) => {
    const { file, path } = fileWith(place, [[1]]);
    expect(isValid(file)).toBe(false);
    expect(isValid.errors?.map(({ instancePath }) => instancePath.slice(1).replaceAll('/', '.'))).toContainEqual(
      expect.stringContaining(path.replaceAll('[0]', '.0')),
    );
    const { problems } = compileConfiguration(file, inputs);
    expect(problems.map((problem) => problem.path)).toContainEqual(expect.stringContaining(path));
    expect(isValid(fileWith(place, null).file)).toBe(true);
  });

  it.each(Object.keys(configurationKeys))('refuses a key that the compiler does not know, in "%s"', (section) => {
    const { file } = fileWith(section === '' ? 'no_such_key' : `${section}.no_such_key`, 1);
    expect(isValid(file)).toBe(false);
    expect(compileConfiguration(file, inputs).problems).not.toEqual([]);
  });
});
