/**
 * What a release changes in the tree: the version wherever it stands, and the changelog. No git, no network: the
 * release script and its test call it on a folder.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const form = /^(\d+)\.(\d+)\.(\d+)(?:-rc\.(\d+))?$/;

function parts(version) {
  const found = form.exec(version);
  if (found === null)
    throw new Error(
      `${version} is no version of this project. Write three numbers, as 1.4.0, or 1.4.0-rc.1 before it.`,
    );
  const [, major, minor, patch, candidate] = found;
  // The release comes after its candidates.
  return [major, minor, patch, candidate ?? Infinity].map(Number);
}

/** Throws unless `next` comes after `now`. */
export function requireLater(now, next) {
  const [before, after] = [parts(now), parts(next)];
  const at = after.findIndex((part, index) => part !== before[index]);
  if (at === -1 || after[at] < before[at])
    throw new Error(`${next} does not come after ${now}, the version in package.json. Choose a later one.`);
}

/**
 * Moves what stands under “Unreleased” under the version and its date. Returns the new changelog and the notes of the
 * release. Throws if nothing stands there.
 */
export function takeNotes(changelog, version, date) {
  const heading = '## Unreleased\n';
  const start = changelog.indexOf(heading);
  if (start === -1) throw new Error('CHANGELOG.md has no heading “## Unreleased”. Write it above the last version.');
  const rest = changelog.slice(start + heading.length);
  const end = rest.search(/^## /m);
  const notes = (end === -1 ? rest : rest.slice(0, end)).trim();
  if (!/^- /m.test(notes)) throw new Error('CHANGELOG.md has nothing under “Unreleased”. Say there what changed.');
  const older = end === -1 ? '' : `\n${rest.slice(end)}`;
  return {
    changelog: `${changelog.slice(0, start)}${heading}\n## ${version} (${date})\n\n${notes}\n${older}`,
    notes: `# Sluice ${version}\n\n${notes}\n`,
  };
}

/** Files with the version as a member of their own. Only its first place is changed, but for the lock. */
const manifests = [
  ['package.json', /^( {2}"version": ")[^"]+/m],
  ['package-lock.json', /^( {2}"version": "| {6}"name": "sluice",\n {6}"version": ")[^"]+/gm],
  ['packages/sluice/package.json', /^( {2}"version": ")[^"]+/m],
  ['packages/client/package.json', /^( {2}"version": ")[^"]+/m],
  ['packages/tool/package.json', /^( {2}"version": ")[^"]+/m],
  ['packages/client-python/pyproject.toml', /^(version = ")[^"]+/m],
];

/** Pages that name files of a release, such as `sluice-0.1.0.tgz`. Benchmarks name what was measured. */
function pages(folder) {
  const docs = readdirSync(join(folder, 'docs'), { recursive: true })
    .filter((name) => name.endsWith('.md') && !name.endsWith('benchmarks.md'))
    .map((name) => join('docs', name));
  return [
    'README.md',
    ...['sluice', 'client', 'tool', 'client-python'].map((one) => `packages/${one}/README.md`),
    ...docs,
  ];
}

/** Writes the version everywhere it stands; returns the files that it changed. */
export function setVersion(folder, now, next) {
  const changed = [];
  const change = (file, edit) => {
    const path = join(folder, file);
    const before = readFileSync(path, 'utf8');
    const after = edit(before);
    if (after === before) return false;
    writeFileSync(path, after);
    changed.push(file);
    return true;
  };
  for (const [file, place] of manifests)
    if (!change(file, (text) => text.replace(place, (_, start) => `${start}${next}`)))
      throw new Error(`${file} does not have the version where the release script looks for it (bin/version.mjs).`);
  // The name of a file, an image or a chart with the version in it.
  const named = new RegExp(String.raw`(?<=[-:@ ])${now.replaceAll('.', String.raw`\.`)}(?=[-.:\x60 ,)\n]|$)`, 'gm');
  for (const file of pages(folder).filter((name) => existsSync(join(folder, name))))
    change(file, (text) =>
      text
        .split('\n')
        .map((line) => (/sluice/i.test(line) ? line.replace(named, next) : line))
        .join('\n'),
    );
  return changed;
}
