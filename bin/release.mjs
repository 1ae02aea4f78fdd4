/**
 * `npm run release -- VERSION`: everything of a release up to publishing it, which needs a person's credentials. It
 * works in a worktree of its own, so that the checkout stays as it is. It leaves a folder with the artefacts, their
 * bill of materials, checksums and signature, and in the repository a branch with the release's commit, and its tag.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requireLater, setVersion, takeNotes } from './version.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const usage = `npm run release -- VERSION [--to FOLDER] [--key FILE] [--rehearse]
  VERSION   three numbers, as 1.4.0, or a candidate, as 1.4.0-rc.1
  --to      where the artefacts go; dist/release/VERSION by default
  --key     the secret key of minisign; ~/.minisign/minisign.key by default
  --rehearse  makes all artefacts and leaves no branch and no tag; without --key it signs with a key that it makes and throws away`;

/** The programs that a release calls, and what each is for. */
const programs = {
  git: 'the commit and the tag',
  tar: 'the site’s archive',
  docker: 'the image',
  go: 'helm, which makes the chart',
  python3: 'the Python client',
  minisign: 'the signature',
};

function readArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { to: { type: 'string' }, key: { type: 'string' }, rehearse: { type: 'boolean', default: false } },
  });
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) throw new Error(`Name one version.\n${usage}`);
  return {
    version,
    to: resolve(values.to ?? join(root, 'dist', 'release', version)),
    key: values.key ?? (values.rehearse ? null : join(homedir(), '.minisign', 'minisign.key')),
    isRehearsal: values.rehearse,
  };
}

function said(program, args, cwd = root) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}

/** What keeps the release from beginning, one sentence each. */
function problems({ version, to, key, isRehearsal }, now) {
  const found = [];
  const wants = (holds, sentence) => holds || found.push(sentence);
  try {
    requireLater(now, version);
    takeNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, 'today');
  } catch (error) {
    found.push(error.message);
  }
  for (const [program, what] of Object.entries(programs)) {
    const ask = program === 'minisign' ? '-v' : program === 'go' ? 'version' : '--version';
    wants(spawnSync(program, [ask]).error === undefined, `Install ${program}: it makes ${what}.`);
  }
  wants(
    !existsSync(to) || readdirSync(to).length === 0,
    `${to} is not empty. Remove it, or name another folder by --to.`,
  );
  wants(key === null || existsSync(key), `${key} is not there. Name the secret key of minisign by --key.`);
  if (!isRehearsal) {
    wants(said('git', ['status', '--porcelain']) === '', 'The checkout has changes. Commit them first.');
    wants(said('git', ['tag', '--list', `v${version}`]) === '', `The tag v${version} is there already.`);
    wants(
      said('git', ['branch', '--list', `release-${version}`]) === '',
      `The branch release-${version} is there already.`,
    );
  }
  return found;
}

/** Runs a step's program, whose output is shown only where it fails, as the release has a line for each step. */
function work(folder, program, args, environment = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 1e9,
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  const end = `${stdout ?? ''}${stderr ?? ''}`.split('\n').slice(-40).join('\n');
  throw new Error(
    `${program} ${args.join(' ')} failed${error ? ` (${error.message})` : ''}. The end of what it said:\n${end}`,
  );
}

const npm = (folder, ...args) => work(folder, 'npm', ['run', '--silent', ...args]);

/** The steps in their order: what is shown, and what is done in the worktree and the folder of the artefacts. */
function steps({ version, key, isRehearsal }, now, date) {
  return [
    [
      'version and changelog',
      ({ tree, to }) => {
        setVersion(tree, now, version);
        const { changelog, notes } = takeNotes(readFileSync(join(tree, 'CHANGELOG.md'), 'utf8'), version, date);
        writeFileSync(join(tree, 'CHANGELOG.md'), changelog);
        writeFileSync(join(to, 'notes.md'), notes);
        npm(tree, 'generate');
        work(tree, process.execPath, ['bin/setup.mjs', 'keep-records']);
      },
    ],
    [
      'commit and tag',
      ({ tree }) => {
        said('git', ['add', '--all'], tree);
        said('git', ['commit', '--quiet', '--message', `Release ${version}`], tree);
      },
    ],
    [
      'npm packages, bill of materials, licences',
      ({ tree, to }) => {
        npm(tree, 'pack', '--', join(to, 'npm'));
        mkdirSync(join(to, 'sbom'));
        for (const name of [`sluice-${version}.cdx.json`, 'licences.md'])
          renameSync(join(to, 'npm', name), join(to, 'sbom', name));
      },
    ],
    [
      'Python client',
      ({ tree, to, epoch }) => {
        const pip = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', join(to, 'python')];
        work(tree, 'python3', [...pip, './packages/client-python'], { SOURCE_DATE_EPOCH: epoch });
      },
    ],
    [
      'image',
      ({ tree, to }) => {
        const packed = join(to, 'npm', `sluice-${version}.tgz`);
        npm(tree, 'image', '--', '--package', packed, '--tag', `sluice:${version}`);
        mkdirSync(join(to, 'image'));
        const file = join(
          to,
          'image',
          `sluice-${version}-${said('docker', ['version', '--format', '{{.Server.Arch}}'])}.tar`,
        );
        work(tree, 'docker', ['save', '--output', file, `sluice:${version}`]);
        work(tree, 'gzip', ['-9', '--no-name', file]);
      },
    ],
    [
      'chart',
      ({ tree, to }) => {
        npm(tree, 'chart', '--', join(to, 'chart'));
        // The folder that it was made of.
        rmSync(join(to, 'chart', 'sluice'), { recursive: true });
      },
    ],
    [
      'site',
      ({ tree, to, epoch }) => {
        npm(tree, 'docs');
        mkdirSync(join(to, 'site'));
        // The same bytes of the same commit, on any machine.
        const same = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner'];
        const file = join(to, 'site', `sluice-docs-${version}.tar.gz`);
        work(tree, 'tar', [...same, '-I', 'gzip -9 -n', '-C', join(tree, 'dist', 'site'), '-cf', file, '.']);
      },
    ],
    [
      'checksums and signature',
      async ({ to, keys }) => {
        writeFileSync(join(to, 'SHA256SUMS'), await checksums(to));
        const secret = key ?? join(keys, 'secret');
        if (key === null) said('minisign', ['-G', '-W', '-p', join(to, 'minisign.pub'), '-s', secret]);
        const comment = `Sluice ${version}, ${date}${isRehearsal ? ', a rehearsal' : ''}`;
        // It may ask for the key's password.
        const sign = spawnSync('minisign', ['-S', '-s', secret, '-t', comment, '-m', join(to, 'SHA256SUMS')], {
          stdio: ['inherit', 'ignore', 'inherit'],
        });
        if (sign.status !== 0) throw new Error('minisign did not sign SHA256SUMS.');
      },
    ],
  ];
}

/** The lines of a SHA256SUMS file over all files of the folder, by name. */
async function checksums(folder) {
  const files = readdirSync(folder, { recursive: true })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.split(sep).join('/'))
    .sort();
  const lines = [];
  for (const file of files) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, file)), hash);
    lines.push(`${hash.digest('hex')}  ${file}\n`);
  }
  return lines.join('');
}

async function release(wanted) {
  const now = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  const found = problems(wanted, now);
  if (found.length > 0) throw new Error(`The release of ${wanted.version} cannot begin.\n- ${found.join('\n- ')}`);
  const { version, to, isRehearsal } = wanted;
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-release-'));
  const place = { tree: join(scratch, 'tree'), to: `${to}.unfinished`, keys: scratch };
  rmSync(place.to, { recursive: true, force: true });
  mkdirSync(place.to, { recursive: true });
  try {
    said('git', ['worktree', 'add', '--quiet', '--detach', place.tree, 'HEAD']);
    place.epoch = said('git', ['log', '-1', '--format=%ct']);
    const all = steps(wanted, now, new Date().toISOString().slice(0, 10));
    for (const [index, [name, step]] of all.entries()) {
      const started = Date.now();
      process.stdout.write(`${index + 1}/${all.length} ${name} …`);
      await step(place);
      process.stdout.write(` ${((Date.now() - started) / 1000).toFixed(0)} s\n`);
    }
    const commit = said('git', ['rev-parse', 'HEAD'], place.tree);
    if (!isRehearsal) {
      said('git', ['tag', '--annotate', '--message', `Sluice ${version}`, `v${version}`, commit]);
      said('git', ['branch', `release-${version}`, commit]);
    }
    rmSync(to, { recursive: true, force: true });
    renameSync(place.to, to);
  } finally {
    rmSync(place.to, { recursive: true, force: true });
    spawnSync('git', ['worktree', 'remove', '--force', place.tree], { cwd: root });
    rmSync(scratch, { recursive: true, force: true });
  }
  const shown = relative(process.cwd(), to) || '.';
  const next = isRehearsal
    ? 'This was a rehearsal: the repository has no branch and no tag of it.'
    : `The commit is on the branch release-${version}, with the tag v${version}.`;
  console.log(`\n${shown} has the release. ${next}\ndocs/releasing.md says how each part is published.`);
}

try {
  await release(readArguments(process.argv.slice(2)));
} catch (error) {
  process.stdout.write('\n');
  console.error(`sluice: ${error.message}`);
  process.exitCode = 1;
}
