import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { CommandNames } from '@sluice/host';

/**
 * A text for people, its commands as they are typed here: `npx sluice` in a clone and where the package is installed,
 * `sluice` in the image.
 */
export function withCommands(text: string, { command, start }: CommandNames): string {
  return text.replaceAll(byNpx, command).replaceAll(byNpm, start);
}

const byNpx = 'npx sluice';
const byNpm = 'npm start';

/** Whether the project itself is there: a clone, not a package or an image. */
export const isClone = (root: string): boolean => existsSync(join(root, 'bin/setup.mjs'));

/**
 * How the command line is called from this folder. `npx sluice` runs the package of that name in the
 * registry, which is another one, unless it is called in a clone or where this package is installed.
 */
export function commandNames(root: string, folder: string): CommandNames {
  if (isClone(root)) return { command: byNpx, start: byNpm };
  const command = commandOutsideAClone(root, folder);
  return { command, start: `${command} start` };
}

function commandOutsideAClone(root: string, folder: string): string {
  const packages = dirname(root);
  if (basename(packages) !== 'node_modules') return 'sluice';
  const project = dirname(packages);
  const given = packagesGivenToNpx(project);
  if (given.length > 0)
    return given.length === 1 ? `npx ${given.join()}` : `npx ${given.map((one) => `--package ${one} `).join('')}sluice`;
  return relative(project, folder).split(sep)[0] === '..' ? 'sluice' : byNpx;
}

/**
 * What stands before a command that is typed beside this process, in another terminal: `docker exec` and the name of
 * its container where this is the image, else nothing.
 */
export function besideThis(root: string, isContainer = existsSync('/.dockerenv')): string {
  const isImage = isContainer && commandOutsideAClone(root, root) === 'sluice' && !isClone(root);
  return isImage ? `docker exec -it ${hostname()} ` : '';
}

/** What npx was given to run, where npm installed Sluice for that alone, such as `./sluice-0.1.0.tgz`; else null. */
export function packageGivenToNpx(project: string): string | null {
  return packagesGivenToNpx(project).find((one) => /(?:^|[/\\@])sluice\b/.test(one)) ?? null;
}

function packagesGivenToNpx(project: string): readonly string[] {
  if (basename(dirname(project)) !== '_npx') return [];
  try {
    const { _npx: npx } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
      readonly _npx?: { readonly packages?: readonly string[] };
    };
    return npx?.packages ?? [];
  } catch {
    return [];
  }
}
