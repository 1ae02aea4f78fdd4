import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog, readEnvironment } from '@sluice/host';
import { run as start } from '../apps/sluice/src/commands/start.js';
import { commands } from '../apps/sluice/src/commands/all.js';
import { besideThis, commandNames, withCommands } from '../apps/sluice/src/show/hints.js';
import { wrap } from '../apps/sluice/src/show/wrap.js';
import { unknownCommand } from '../apps/sluice/src/which-command.js';
import { command } from './harness/command.js';
import { projectRoot } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { sluice } from './harness/program.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';

const clock = (group: string): string =>
  `tool: { clock: { type: get_current_time, group: [${group}] } }\npolicy: { allowed_tools: [clock] }\n`;

describe('a command that does not exist', () => {
  it.each([
    ['audti', '`sluice audit`'],
    ['dead-letter', '`sluice dead-letters`'],
    ['conf', '`sluice config`'],
    ['Tail', '`sluice tail`'],
  ])('%s gets one line with a suggestion', (name, near) => {
    const said = unknownCommand(name, Object.keys(commands));
    expect(said).toContain(`Did you mean ${near}?`);
    expect(said).not.toContain('\n');
  });

  it('is suggested nothing where nothing is near', () => {
    expect(unknownCommand('xyzzy', Object.keys(commands))).toBe(
      'There is no command "xyzzy". `sluice help` lists all commands.',
    );
  });
});

describe('an option that cannot be read', () => {
  it.each([
    [['cancel', 'x', '--reasn', 'y'], 'cancel has no option --reasn. Did you mean --reason? `sluice help cancel`'],
    [['explain', '--config'], '--config needs a value.'],
    [['ask', '--json=yes', 'hi'], '--json takes no value.'],
    [['topics', 'x'], 'topics takes only options, and found x.'],
  ])('%j: says what to write', async (args, sentence) => {
    const { code, errors } = await sluice(args).ended;
    expect([code, errors]).toEqual([1, expect.stringContaining(`sluice: ${sentence}`)]);
  });
});

it('hints name commands as they are typed there', () => {
  const hint = 'Then: npx sluice check a.yaml, or SLUICE_CONFIG=a.yaml npx sluice ask, or npm start.';
  const there = (root: string, folder: string): string => withCommands(hint, commandNames(root, folder));
  expect(there(projectRoot, '/anywhere')).toBe(hint);
  expect(there('/app', '/app')).toBe('Then: sluice check a.yaml, or SLUICE_CONFIG=a.yaml sluice ask, or sluice start.');
  expect(besideThis('/app', true)).toBe(`docker exec -it ${hostname()} `);

  const installed = mkdtempSync(join(tmpdir(), 'sluice-named-'));
  const inPackages = (project: string): string => join(project, 'node_modules/sluice');
  expect(there(inPackages(installed), join(installed, 'tools'))).toContain('SLUICE_CONFIG=a.yaml npx sluice ask');
  expect([besideThis(projectRoot, true), besideThis(inPackages(installed), true), besideThis('/app', false)]).toEqual([
    '',
    '',
    '',
  ]);
  expect(there(inPackages(installed), tmpdir())).toContain('SLUICE_CONFIG=a.yaml sluice ask, or sluice start');
  const ofNpx = join(installed, '_npx/1234');
  mkdirSync(ofNpx, { recursive: true });
  writeFileSync(join(ofNpx, 'package.json'), '{"_npx":{"packages":["./sluice-0.1.0.tgz"]}}');
  expect(there(inPackages(ofNpx), installed)).toBe(
    'Then: npx ./sluice-0.1.0.tgz check a.yaml, or SLUICE_CONFIG=a.yaml npx ./sluice-0.1.0.tgz ask, or npx ./sluice-0.1.0.tgz start.',
  );
  rmSync(installed, { recursive: true });
});

it('`sluice --version` says the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };
  expect(await sluice(['--version']).ended).toMatchObject({ code: 0, output: `sluice ${version}\n` });
});

it('`sluice help` lists every command once, on one screen', async () => {
  const { code, output } = await sluice(['help']).ended;
  expect(code).toBe(0);
  const lines = output.split('\n');
  expect(lines.length).toBeLessThanOrEqual(54);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  const listed = lines.flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
  expect(listed.sort()).toEqual(Object.keys(commands).sort());
  expect(await sluice(['help', 'cancel']).ended).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^sluice cancel REQUEST_ID/),
  });
});

it('help and version load nothing but Node and a few small files', () => {
  const loaded = new Set<string>();
  const follow = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const source = readFileSync(join(projectRoot, file), 'utf8');
    for (const [, from = ''] of source.matchAll(/^import (?!type\b)[^;]*? from '([^']+)'/gm))
      if (from.startsWith('.')) follow(join(dirname(file), from.replace(/\.js$/, '.ts')));
      else if (!from.startsWith('node:')) throw new Error(`${file} imports ${from}`);
  };
  follow('apps/sluice/src/main.ts');
  expect([...loaded].length).toBeLessThan(10);
});

describe('text for people is wrapped at the width of the terminal', () => {
  const words = 'one two three four five six seven eight nine ten eleven twelve';

  it('at spaces, two columns further in than the line', () => {
    const lines = wrap(`  ${words}`, 40).split('\n');
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines[1]).toMatch(/^ {4}\S/);
    expect(lines.join(' ').replace(/\s+/g, ' ').trim()).toBe(words);
  });

  it('under the text of a line with a label, which colours do not widen', () => {
    const [first, second] = wrap(`   \u001b[2moffered  \u001b[22m ${words}`, 40).split('\n');
    expect(first).toContain('offered');
    expect(second).toMatch(/^ {13}\S/);
  });

  it('leaves what fits, what has no space, and a terminal too narrow to indent in', () => {
    expect(wrap(words, 200)).toBe(words);
    expect(wrap('x'.repeat(90), 40)).toBe('x'.repeat(90));
    expect(wrap(words, 20)).toBe(words);
  });
});

describe('bad usage is found before the log is opened', () => {
  const nowhere = { SLUICE_DATA: join(tmpdir(), 'sluice-no-such-folder') };
  it.each([
    ['approvals', 'Say what to do with approvals.'],
    ['approvals approve', 'Name the approval.'],
    ['approvals show', 'Name the approval.'],
    ['approvals frobnicate', 'There is no "frobnicate"'],
    ['dead-letters show x', '"x" names no dead letter'],
    ['dead-letters redrive 0/0 x', '"x" names no dead letter'],
    ['config diff', 'Name the version to compare with.'],
  ])('%s', async (words, said) => {
    const { code, errors } = await command(words.split(' '), nowhere);
    expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
  });
});

describe('with services that run', () => {
  let system: TestSystem;
  const model = new ScriptedModel(inOrder({ calls: [['core__clock', '{}']] }));
  const other = mkdtempSync(join(tmpdir(), 'sluice-other-'));
  beforeAll(async () => {
    system = await startSystem(clock('work'), model);
    for (const sessionId of ['ann-0001', 'ann-0002', 'bob-0001'])
      await system.ask({ sessionId, requestId: `r-${sessionId}`, group: ['work'] });
  });
  afterAll(async () => {
    await system.close();
    rmSync(other, { recursive: true, force: true });
  });
  /** In a process of its own, as the group's holder is told from others by its process. */
  const asking = (configFile: string | null, ...args: string[]) =>
    sluice(['ask', 'Go', '--group', 'work', ...args], {
      SLUICE_DATA: system.folder,
      ...(configFile === null ? {} : { SLUICE_CONFIG: configFile }),
    }).ended;

  it('`ask` names the session that it asked in', async () => {
    const { code, output } = await asking(null, '--session', 'carol-0001');
    expect([code, output]).toEqual([0, expect.stringContaining('Session carol-0001   (npx sluice audit show carol')]);
    const json = await asking(null, '--session', 'carol-0002', '--json');
    expect(JSON.parse(json.output)).toMatchObject({ session_id: 'carol-0002', kind: 'answer' });
  });

  it('`ask` refuses a SLUICE_CONFIG that they do not work under, and names both', async () => {
    const file = join(other, 'mine.yaml');
    writeFileSync(file, clock('elsewhere'));
    const { code, errors } = await asking(file);
    expect([code, errors]).toEqual([1, expect.stringContaining(`SLUICE_CONFIG names ${file}, but the services`)]);
    expect(errors).toContain(`work under ${system.configFile} (version c-`);
    writeFileSync(file, clock('work'));
    expect((await asking(file)).code).toBe(0);
    expect((await asking(system.configFile)).code).toBe(0);
  });

  it('`call` has them make the call, without a request to their model', async () => {
    const before = model.asked.length;
    const words = ['call', 'clock', '{"timezone":"Asia/Tokyo"}', '--group', 'work', '--json'];
    const { code, output, errors } = await sluice(words, { SLUICE_DATA: system.folder }).ended;
    expect([code, errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toMatchObject({
      tool: 'clock',
      outcome: 'ok',
      observation: expect.stringContaining('Asia/Tokyo'),
    });
    expect(model.asked).toHaveLength(before);
    const unknown = await sluice(['call', 'clok'], { SLUICE_DATA: system.folder }).ended;
    expect([unknown.code, unknown.errors]).toEqual([1, expect.stringContaining('Did you mean clock?')]);
  });

  it('`start` refuses their data folder before it publishes its configuration', async () => {
    const file = join(other, 'second.yaml');
    writeFileSync(file, clock('second'));
    const before = await command(['config', 'list'], { SLUICE_DATA: system.folder });
    const { code, errors } = await sluice(['start'], { SLUICE_DATA: system.folder, SLUICE_CONFIG: file }).ended;
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/is being consumed by process \d+ .*on the same log. End that process/),
    ]);
    expect(await command(['config', 'list'], { SLUICE_DATA: system.folder })).toEqual(before);
  });

  const variables = (): Record<string, string> => ({ SLUICE_DATA: system.folder });
  it.each([
    [['tail', '--from', 'start', '--once', '--topic', 'agent.requests', '--session', 'bob-'], / bob-0001 .*"Go"/],
    [['audit', 'show', 'bob-'], /Run r-bob-0001/],
    [['replay', '--json', '--session', 'bob-'], /"replayed":5,"equal":5/],
    [['export', '--session', 'bob-', join(other, 'bob.sluice')], /bob\.sluice: \d+ records, .*\n$/],
  ])('%j takes a unique beginning of a session', async (words, said) => {
    if (words[0] === 'audit')
      await eventually(
        () => command(['audit', 'show', 'bob-0001'], variables()),
        ({ output }) => /answered/.test(output),
      );
    const { output, errors } = await command(words, variables());
    expect([output, errors]).toEqual([expect.stringMatching(said), '']);
  });

  it.each([
    ['tail', '--from', 'start', '--once', '--session'],
    ['audit', 'show'],
    ['replay', '--session'],
  ])('%s refuses a beginning that two sessions have', async (...words) => {
    const { errors } = await command([...words, 'ann-'], variables());
    expect(errors).toBe('More than one session begins with ann-. Write more of it.');
  });
});

describe('`sluice start`', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-banner-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('names the file, the tools and the groups, says once what is taken, and once why a file is refused', async () => {
    const configFile = join(folder, 'my.yaml');
    writeFileSync(configFile, clock('work, basic'));
    const environment = {
      ...readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' }),
      ...{ configFile, logLevel: 'info' },
    };
    let output = '';
    let stop = (reason: string): void => void reason;
    const plain = (text: string): string => text;
    const running = start([], {
      environment,
      log: createLog('silent'),
      paint: { strong: plain, dim: plain, state: plain, tool: plain, good: plain, bad: plain },
      write: (text) => void (output += text),
      print: (text) => void (output += text.toString()),
      note: () => undefined,
      taken: () => Promise.resolve(),
      terminal: false,
      stopped: new Promise<string>((resolve) => void (stop = resolve)),
      sampleConfiguration: () => Promise.reject(new Error('No sample is needed.')),
      root: projectRoot,
      inProject: (file) => file,
      input: process.stdin,
      allCommands: () => Promise.resolve([]),
    });
    const said = (text: string) =>
      eventually(
        () => output.split(text).length - 1,
        (count) => count === 1,
      );
    const lines = () => command(['config', 'list'], { SLUICE_DATA: folder });
    try {
      await said(`configuration ${configFile}: 1 tool (all allowed), groups basic, work\n`);
      writeFileSync(configFile, clock('night'));
      await said(`✓ ${configFile} was read again and is in force: 1 tool (all allowed), group night, version c-`);
      expect((await lines()).output.trim().split('\n')).toHaveLength(2);
      writeFileSync(configFile, clock('night').replace('allowed_tools', 'allowed_tool'));
      const refused = () =>
        readFileSync(join(folder, 'sluice.log'), 'utf8')
          .split('\n')
          .filter((line) => line.includes('has mistakes and is refused'));
      const [line = ''] = await eventually(refused, ({ length }) => length === 1);
      expect(line.split('did you mean')).toHaveLength(2);
    } finally {
      stop('the test is over');
      await running;
    }
  });
});
