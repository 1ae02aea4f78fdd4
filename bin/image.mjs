/**
 * `npm run image`: packs `sluice`, or takes the package that `--package` names, and builds the image of it alone. With
 * `--platform linux/amd64,linux/arm64 --push` for several processors, into a registry.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const named = /^sluice-(\d[^/\\]*)\.tgz$/;

function run(program, args, options = {}) {
  const { status, stdout, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (status !== 0)
    throw new Error(`${program} ${args[0]} ${error ? `cannot be run: ${error.message}` : `ended with ${status}`}.`);
  return stdout;
}

/** What git says, or nothing where it is not there or this is no clone. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

function packed() {
  const folder = join(root, 'dist', 'packages');
  run(process.execPath, [join(root, 'bin', 'pack.mjs'), '--only', 'sluice'], { stdio: ['ignore', 2, 2] });
  return join(folder, readdirSync(folder).find((name) => named.test(name)) ?? '');
}

/** The words for Docker. */
export function buildCommand({ tags, platform, push, nodeImage }, { version, revision, source }, context) {
  if (push && platform === undefined) throw new Error('--push goes with --platform, such as linux/amd64,linux/arm64.');
  const several = platform === undefined ? ['build'] : ['buildx', 'build', '--platform', platform];
  const values = { VERSION: version, REVISION: revision, SOURCE: source, NODE_IMAGE: nodeImage };
  return [
    ...several,
    ...(push ? ['--push'] : []),
    ...tags.flatMap((tag) => ['--tag', tag]),
    ...Object.entries(values).flatMap(([name, value]) => (value ? ['--build-arg', `${name}=${value}`] : [])),
    ...['--file', join(root, 'ops', 'Dockerfile'), context],
  ];
}

function main() {
  const { values } = parseArgs({
    options: {
      package: { type: 'string' },
      tag: { type: 'string', multiple: true, default: ['sluice:local'] },
      platform: { type: 'string' },
      push: { type: 'boolean', default: false },
    },
  });
  const file = values.package === undefined ? packed() : resolve(values.package);
  const [, version] = named.exec(basename(file)) ?? [];
  if (version === undefined || !existsSync(file))
    throw new Error(`${file} is not there, or is no package of Sluice: its name is like sluice-0.1.0.tgz.`);
  const context = mkdtempSync(join(tmpdir(), 'sluice-image-'));
  try {
    cpSync(file, join(context, basename(file)));
    const { tag: tags, platform, push } = values;
    // An address may carry credentials.
    const source = git('remote', 'get-url', 'origin').replace(/(?<=:\/\/)[^/@]*@/, '');
    const about = { version, revision: git('rev-parse', 'HEAD'), source };
    run('docker', buildCommand({ tags, platform, push, nodeImage: process.env.NODE_IMAGE }, about, context));
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`sluice: ${error.message}`);
    process.exitCode = 1;
  }
}
