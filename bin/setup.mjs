/**
 * The one way into the project from a machine with Node 20 or later and npm: installs what is missing, builds what is
 * stale, and runs the rest on the Node 24 that npm brought along. Plain JavaScript without dependencies, since it
 * runs first; on an older Node, sluice.mjs and npm.mjs say so before they load it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { flagsFor, nodeVariables, quiet } from './flags.mjs';
import { stack } from './stack.mjs';

export { nodeVariables, serviceFlags } from './flags.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inRoot = (...parts) => join(root, ...parts);
const nodeOf = (folder) =>
  join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

function install() {
  const installed = inRoot('node_modules', '.package-lock.json');
  const wanted = inRoot('package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs && existsSync(nodeOf(root)))
    return;
  console.error('sluice: installing packages (once; about half a minute) …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status, error } = spawnSync(npm, ['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0)
    stop(
      `The packages could not be installed${error ? ` (${error.message})` : ''}. Run \`npm install\` here and see what it says.`,
    );
  if (!existsSync(nodeOf(root)))
    stop('npm did not run the install script of the package `node`. Run `npm rebuild node` here and try again.');
}

/** With the programs of bench/, where they are wanted. */
function build(withBench = false) {
  const stamp = inRoot('dist', withBench ? '.built-with-bench' : '.built');
  const sources = [
    'apps',
    'libs',
    'bench',
    'bin/bundle.mjs',
    'bin/externals.mjs',
    'bin/node-version.mjs',
    'package.json',
    'tsconfig.json',
  ];
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= Math.max(...sources.map((source) => newest(inRoot(source)))))
    return;
  console.error('sluice: building …');
  const started = new Date();
  const { status } = spawnSync(nodeOf(root), [inRoot('bin/bundle.mjs'), ...(withBench ? ['bench'] : [])], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) stop('The build failed; the lines above say where.');
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${started.toISOString()}\n`);
}

function newest(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return readdirSync(path).reduce(
    (latest, name) => (name === 'node_modules' ? latest : Math.max(latest, newest(join(path, name)))),
    0,
  );
}

function stop(sentence) {
  console.error(`sluice: ${sentence}`);
  process.exit(1);
}

/**
 * What V8 has compiled once is kept: a command starts in three quarters of the time. Where the folder cannot be
 * written, Node does without.
 */
const kept = { NODE_COMPILE_CACHE: inRoot('node_modules', '.cache', 'compiled') };

/** Runs a program on Node 24 and ends as it ends. */
const run = (args, options, flags) => void runs(args, options, flags).then((code) => process.exit(code));

/**
 * Runs a program on Node 24; resolves with its exit code. It hears of our death through the channel, so that nothing
 * is left running.
 */
function runs(args, options = {}, flags = quiet) {
  const child = spawn(nodeOf(root), [...flags, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...nodeVariables, ...kept, ...process.env },
    ...options,
  });
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      asked = true;
      child.kill(signal);
    });
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500).unref();
  }
  child.on('error', (error) => stop(`Node 24 could not be started: ${error.message}`));
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      const status = code ?? (signal === 'SIGINT' ? 130 : 1);
      // Who interrupts a program wants nothing after it either.
      if (asked) process.exit(status);
      resolve(status);
    });
  });
}

/** Runs several programs one after another; ends with the first failure. */
function all(...programs) {
  for (const args of programs) {
    const { status } = spawnSync(nodeOf(root), args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}

const jest = (args) => [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  inRoot('node_modules/jest/bin/jest.js'),
  ...args,
];

/** Runs TypeScript as it is. */
const sources = [
  ...['--experimental-transform-types', '--disable-warning=ExperimentalWarning'],
  `--import=${inRoot('test/process/typescript.mjs')}`,
];

/** The pure tests use processors, the others mostly wait: each project has as many workers as suit it. */
const cores = availableParallelism();
const workers = { pure: Math.min(cores, 8), real: Math.min(3 * cores, 12) };

/** More suites than this do not fail by chance. */
const mostFlakes = 6;

/** The suites that failed by chance before, and wait for a person: they are not run again. */
const flakesFile = inRoot('test', 'flakes.json');
const knownFlakes = () => (existsSync(flakesFile) ? JSON.parse(readFileSync(flakesFile, 'utf8')) : []);

/**
 * Which of a run's suites are run once more: those that failed, if they are few and none of them stands in the list
 * of known flakes already; else none, with the sentence that says so where there is one.
 */
export function toRunAgain(suites, known) {
  const failed = suites.filter(({ status }) => status === 'failed');
  const paths = failed.map(({ name }) => relative(root, name).replaceAll('\\', '/'));
  const repeated = paths.filter((path) => known.includes(path));
  if (paths.length === 0 || paths.length > mostFlakes) return { paths: [] };
  if (repeated.length > 0)
    return { paths: [], why: `not run again, since test/flakes.json has it: ${repeated.join(', ')}` };
  return { paths };
}

/** What test/flakes.json holds for these suites, formatted as `npm run lint` wants it. */
export async function flakesText(paths) {
  const { format, resolveConfig } = await import('prettier');
  return format(JSON.stringify([...paths].sort()), { ...(await resolveConfig(flakesFile)), filepath: flakesFile });
}

/**
 * Runs the few suites that failed beside others once more, alone: on a shared machine a process can be late by
 * minutes. What passes now is written into test/flakes.json, for a person to mend; what fails again has failed.
 */
async function again(results) {
  if (!results.every((file) => existsSync(file))) return 1;
  const ofProjects = results.map((file) => JSON.parse(readFileSync(file, 'utf8')).testResults);
  // Jest failed by something else than a suite.
  if (!ofProjects.every((suites) => suites.some(({ status }) => status === 'failed'))) return 1;
  const known = knownFlakes();
  const { paths, why } = toRunAgain(ofProjects.flat(), known);
  if (why !== undefined) console.error(`sluice: ${why}`);
  if (paths.length === 0) return 1;
  console.error(`sluice: once more, alone: ${paths.join(', ')}`);
  const code = await runs(jest(['--runInBand', '--runTestsByPath', ...paths]), { cwd: root });
  if (code === 0) {
    console.error(`sluice: FLAKE: failed beside other suites and passed alone: ${paths.join(', ')}`);
    writeFileSync(flakesFile, await flakesText([...known, ...paths]));
  }
  return code;
}

const cli = inRoot('dist/main.js');
const tool = (path) => inRoot('node_modules', path);

const commands = {
  cli: (args) => run([cli, ...args], {}, flagsFor(args)),
  start: (args) => run([cli, 'start', ...args], { cwd: root }),
  // `--keep-times` writes down how long each file took, by which the next runs begin with the longest.
  test: async (args) => {
    if (args[0] === '--keep-times') process.env.SLUICE_TEST_TIMES = '1';
    else if (args.length > 0) return run(jest(args), { cwd: root });
    const failed = [];
    for (const project of ['pure', 'real']) {
      const results = inRoot('node_modules', '.cache', `test-results-${project}.json`);
      rmSync(results, { force: true });
      const options = ['--selectProjects', project, '--json', `--outputFile=${results}`];
      const code = await runs(jest([...options, `--maxWorkers=${workers[project]}`]), { cwd: root });
      if (code !== 0) failed.push(results);
    }
    process.exit(failed.length === 0 ? 0 : await again(failed));
  },
  'test:quick': (args) =>
    run(jest(['--selectProjects', 'pure', `--maxWorkers=${workers.pure}`, ...args]), { cwd: root }),
  'test:stack': (args) => commands.test(['--config', inRoot('test/stack/jest.docker.mjs'), ...args]),
  'test:wide': async (args) => {
    const { parts } = await import('../test/wide/parts.mjs');
    const [part, ...more] = args;
    if (part === '--list')
      return console.log(
        Object.entries(parts)
          .map(([name, what]) => `${name.padEnd(12)}${what}`)
          .join('\n'),
      );
    if (part !== undefined && !Object.hasOwn(parts, part))
      stop(`There is no part ${part} of test:wide. There are: ${Object.keys(parts).join(', ')}.`);
    const failed = [];
    for (const name of part === undefined ? Object.keys(parts) : [part]) {
      console.error(`sluice: test:wide ${name} …`);
      const main = inRoot('test', 'wide', name, 'main.ts');
      const program = existsSync(main)
        ? [...sources, main, ...more]
        : jest(['--selectProjects', 'wide', '--runInBand', '--', `test/wide/${name}/`, ...more]);
      if ((await runs(program, { cwd: root })) !== 0) failed.push(name);
    }
    if (failed.length > 0) stop(`Failed: ${failed.join(', ')}.`);
  },
  bench: (args) => run([inRoot('dist/bench.js'), ...args], { cwd: root }),
  build: () => undefined,
  pack: (args) => run([inRoot('bin/pack.mjs'), ...args], { cwd: root }),
  image: (args) => run([inRoot('bin/image.mjs'), ...args], { cwd: root }),
  docs: (args) => run([inRoot('bin/docs.mjs'), ...args], { cwd: root }),
  chart: (args) => run([inRoot('bin/chart.mjs'), ...args], { cwd: root }),
  images: (args) => run([inRoot('bin/images.mjs'), ...args], { cwd: root }),
  release: (args) => run([inRoot('bin/release.mjs'), ...args], { cwd: root }),
  'keep-records': () => run([...sources, inRoot('test/upgrades/keep.ts')], { cwd: root }),
  infra: (args) => run([inRoot('test/infra/main.ts'), ...args], { cwd: root }),
  'test:faults': (args) => run([...sources, inRoot('test/faults/main.ts'), ...args], { cwd: root }),
  lint: () =>
    all(
      // Types of all files at once take more than Node’s default.
      ['--max-old-space-size=8192', tool('eslint/bin/eslint.js'), '.'],
      [tool('prettier/bin/prettier.cjs'), '--check', '.'],
      [tool('typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json'],
      [tool('typescript/bin/tsc'), '--noEmit', '-p', 'apps/console'],
      [tool('typescript/bin/tsc'), '--noEmit', '-p', 'examples/upstream'],
    ),
  generate: () => {
    all(['libs/contracts/generate.ts'], ['ops/grafana/generate.ts'], ['ops/chart/generate.ts']);
    // What the commands say of themselves can be asked once they are built, with the types that were made before.
    build();
    all([inRoot('dist/generate.js')], ['packages/generate/main.ts']);
  },
};

/** Sets up what the command needs and runs it. */
export function main(command, args) {
  // Docker brings what it needs.
  if (command === 'stack') return void stack(args, root).catch((error) => stop(error.message));
  const work = commands[command];
  if (work === undefined)
    stop(`There is no command ${command}. There are: stack, ${Object.keys(commands).join(', ')}.`);
  install();
  // What needs no build.
  const unbuilt = ['lint', 'generate', 'infra', 'docs', 'chart', 'images', 'release'];
  if (!unbuilt.includes(command)) build(command === 'bench');
  work(args);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv[2] ?? '', process.argv.slice(3));
