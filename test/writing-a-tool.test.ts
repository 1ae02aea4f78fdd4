import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtInTools } from '@sluice/packs';
import { capabilityNames } from '@sluice/tools';
import { projectRoot } from './harness/configurations.js';
import { sluice } from './harness/program.js';

const page = readFileSync(join(projectRoot, 'docs/writing-a-tool.md'), 'utf8');
const blocks = [...page.matchAll(/```(\w+)(?: (\S+))?\n([\s\S]*?)```/g)].map(([, language, file, text]) => ({
  language,
  file,
  text: text ?? '',
}));
const home = mkdtempSync(join(tmpdir(), 'sluice-tool-'));
const here = join(home, 'sluice');
const main = join(projectRoot, 'dist/main.js');

/** Writes the page’s file where the page says. */
function write(file: string, change: (text: string) => string = (text) => text): void {
  const block = blocks.find((each) => each.file === file);
  if (block === undefined) throw new Error(`The page shows no ${file}.`);
  writeFileSync(join(here, file), change(block.text));
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a line as a reader does, in a folder where nothing of the project can be imported. */
function run(line: string): Promise<Ended> {
  const [, variable, path, args = ''] = /^(?:(\w+)=(\S+) )?npx sluice (.*)$/.exec(line) ?? [];
  const env = {
    PATH: process.env['PATH'] ?? '',
    NO_COLOR: '1',
    SLUICE_PORT: '0',
    SLUICE_DATA: join(home, 'data'),
    ...(variable === undefined ? {} : { [variable]: path }),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words(args)], { cwd: here, env }, (error, output, errors) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: output + errors }),
    );
  });
}

/** The words of a line as a shell gives them on. */
function words(line: string): string[] {
  const all = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((word) => word[1] ?? word[2] ?? word[3] ?? '');
  return all[0] === 'npx' ? all.slice(2) : all;
}

const check = 'npx sluice check ../my-tools/sluice.yaml';

beforeAll(() => {
  mkdirSync(join(home, 'my-tools'));
  mkdirSync(here);
});
afterAll(() => rmSync(home, { recursive: true }));

describe('docs/writing-a-tool.md', () => {
  it('takes a reader to a running tool, command by command: one file and its place in the configuration (T-24a, C-19, K-20, K-45, K-46, M-120)', async () => {
    write('../my-tools/price-with-tax.mjs');
    write('../my-tools/sluice.yaml');
    const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.trim().split('\n'));
    const shown = [];
    for (const line of lines) {
      const { code, output } = await run(line);
      expect([line, code, output]).toEqual([line, 0, output]);
      shown.push(output);
    }
    expect(lines).toHaveLength(3);
    expect(shown[0]).toContain('1 tools, 1 allowed');
    expect(shown[1]).toContain(blocks.find(({ language }) => language === 'text')?.text.trim());
    expect(shown[2]).toContain('{"total":270.25,"tax":20.25}');
  });

  it('takes a tool in TypeScript, with a capability', async () => {
    write('../my-tools/count-lines.ts');
    write('../my-tools/sluice.yaml', (text) =>
      text
        .replace('policy:', '  count_lines: { type: count_lines, group: [shop] }\n\npolicy:')
        .replace('[price_with_tax]\n', '[price_with_tax, count_lines]\n'),
    );
    expect(await run(check)).toMatchObject({ code: 0, output: expect.stringContaining('2 tools, 2 allowed') });
    const asked = await run(
      'SLUICE_CONFIG=../my-tools/sluice.yaml npx sluice ask "Count the lines of the notes." --group shop',
    );
    // The workspace is there, and empty.
    expect(asked.output).toMatch(/count_lines .*\n.*There is no ".+" in the workspace/);
  });

  it('says truly what is refused, and where (T-10d, T-26b3)', async () => {
    write('../my-tools/broken.mjs');
    const { code, output } = await run(check);
    expect(code).toBe(1);
    expect(output).toContain('../my-tools/broken.mjs: found The tool "broken" cannot be defined.');
    const sentences =
      blocks
        .filter(({ language }) => language === 'text')[1]
        ?.text.trim()
        .split('\n') ?? [];
    expect(sentences).toHaveLength(2);
    for (const sentence of sentences) expect(output).toContain(sentence);
    rmSync(join(home, 'my-tools/broken.mjs'));
  });

  it('names every part, capability and built-in tool, and no other', () => {
    const table = (heading: string): string[][] =>
      (page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '')
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
    const parts = blocks[0]?.text.match(/^ {4}(\w+)(?=:)/gm)?.map((part) => part.trim());
    expect(table('The parts').map((cells) => cells[1])).toEqual(parts);
    expect(table('What a tool may use').map((cells) => cells[1])).toEqual(capabilityNames);
    const tools = table('Built-in tools').map((cells) => [cells[1], cells[3]]);
    expect(tools).toEqual(builtInTools.map(({ type, effect }) => [type, effect]));
  });
});

describe('tool folders', () => {
  const tool = blocks[0]?.text ?? '';
  const part = (name: string, value: string) => (text: string) =>
    text.replace(new RegExp(`^    ${name}: .*$`, 'm'), value === '' ? '' : `    ${name}: ${value},`);

  it.each<[string, string, (text: string) => string, RegExp]>([
    [
      'no default export',
      'bad.mjs',
      (text) => text.replace('export default', 'export const tool ='),
      /no default export/,
    ],
    ['a syntax error', 'bad.mjs', (text) => `${text}\n{`, /bad\.mjs: found \S.* \(line \d+\)/],
    ['an exception', 'bad.js', () => '\nthrow new Error("not today");', /found not today \(line 2, column 7\)/],
    [
      'a name it does not have',
      'bad.js',
      () => 'export default () => {\n  nope();\n};',
      /nope is not defined \(line 2, column 3\)/,
    ],
    ['no tool', 'bad.mjs', () => 'export default 5;', /without a type cannot be defined.*not an object/],
    ['no redaction (T-04c)', 'bad.mjs', part('redaction', ''), /Its redaction is missing: write redaction: \{ fields/],
    ['an empty redaction (X-20)', 'bad.mjs', part('redaction', '{ fields: [] }'), /Its redaction is not usable/],
    ['no effect (C-19)', 'bad.mjs', part('effect', ''), /Its effect is missing: write effect: one of read_only/],
    ['an unknown capability', 'bad.mjs', part('capabilities', "['network']"), /Its capabilities is not usable.*clock/],
    ['no word on repeating', 'bad.mjs', part('repeatable', ''), /Its repeatable is missing/],
    ['an unknown part', 'bad.mjs', part('repeatable', 'true, idempotent: true'), /part idempotent, which no tool has/],
    ['a type twice', 'bad.mjs', (text) => text, /the type "price_with_tax", which \S*price-with-tax\.mjs has already/],
    ['a built-in type', 'bad.mjs', part('type', "'read_file'"), /the type "read_file", which is built in already/],
    ['the type of MCP tools', 'bad.mjs', part('type', "'mcp-tool'"), /the type "mcp-tool", which is built in already/],
    [
      'a union (T-10d)',
      'bad.mjs',
      (text) =>
        text.replace("z.enum(['standard', 'reduced'])", 'z.union([z.strictObject({ a: z.string() }), z.string()])'),
      /`anyOf` at \/properties\/rate/,
    ],
  ])(
    'refuse %s, naming the file',
    async (_, file, change, why) => {
      const folder = mkdtempSync(join(home, 'folder-'));
      writeFileSync(join(folder, file), change(tool));
      const tools = 'tool: { get_progress: { type: get_progress } }';
      writeFileSync(join(home, 'own.yaml'), `tool_folders: [../my-tools, ${folder}]\n${tools}\n`);
      const { code, output } = await run('npx sluice check ../own.yaml');
      expect(code).toBe(1);
      expect(output).toMatch(why);
      expect(output).toContain(join(folder, file));
    },
    30_000,
  );

  it('say so if they are not there', async () => {
    writeFileSync(
      join(home, 'own.yaml'),
      'tool_folders: [../nowhere]\ntool: { get_progress: { type: get_progress } }\n',
    );
    const { code, output } = await run('npx sluice check ../own.yaml');
    expect(code).toBe(1);
    expect(output).toMatch(/tool_folders\[0\]: found ENOENT.*write a folder that is there/);
  });
});

describe('a tool file that changes', () => {
  const ask = 'npx sluice ask "Compute the price with tax for 250." --group shop';
  const doubled = (text: string): string => text.replace('standard: 8.1', 'standard: 16.2');

  /** A folder, a configuration and data of the test’s own, with what the command line needs to know of them. */
  function folderWith(name: string): { readonly folder: string; readonly variables: Record<string, string> } {
    const folder = join(home, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'price.mjs'), blocks[0]?.text ?? '');
    const yaml = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
    writeFileSync(join(folder, 'sluice.yaml'), yaml.replace('../my-tools', folder));
    const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: join(folder, 'sluice.yaml') };
    return { folder, variables };
  }

  it('is unavailable where the configuration was compiled with other bytes, and the log says so', async () => {
    const { folder, variables } = folderWith('pinned');
    expect((await sluice(['config', 'apply', join(folder, 'sluice.yaml')], variables).ended).code).toBe(0);
    writeFileSync(join(folder, 'price.mjs'), doubled(blocks[0]?.text ?? ''));
    const serving = sluice(['serve'], variables);
    await serving.says('"serving"');
    const { output } = await sluice(words(ask), variables).ended;
    serving.process.kill('SIGTERM');
    const { output: lines } = await serving.ended;
    expect(output).toMatch(/observed +unavailable/);
    expect(lines).toMatch(/price\.mjs.*was changed since the configuration was compiled.*its tools are unavailable/);
  });

  it('is taken up while sluice start serves', async () => {
    const { folder, variables } = folderWith('followed');
    const serving = sluice(['start'], variables);
    await serving.says('It keeps serving');
    expect((await sluice(words(ask), variables).ended).output).toContain('total: 270.25');
    writeFileSync(join(folder, 'price.mjs'), doubled(blocks[0]?.text ?? ''));
    const inForce = (): number =>
      readFileSync(join(folder, 'data/sluice.log'), 'utf8').split('a new configuration is in force').length - 1;
    for (let waited = 0; inForce() < 2 && waited < 100; waited++) await new Promise((go) => setTimeout(go, 100));
    expect((await sluice(words(ask), variables).ended).output).toContain('total: 290.5');
    serving.process.kill('SIGTERM');
    expect((await serving.ended).code).toBe(0);
  });
});
