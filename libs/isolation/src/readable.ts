import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** What the process of a tool file may read: the file’s folder, and the packages that the file can import. */
export function readableFor(file: string): readonly string[] {
  const folder = dirname(file);
  return [...withoutLinks(folder), ...packagesAbove(folder).flatMap((packages) => withoutLinks(packages))];
}

/**
 * The folder, or its entries one by one where some are links that lead out of it: Node’s permission model follows
 * links, and one that npm made for a package leads to all that lies in that package’s folder.
 */
export function withoutLinks(folder: string, outermost = folder): readonly string[] {
  const found = readdirSync(folder).flatMap((name) => {
    const entry = join(folder, name);
    if (lstatSync(entry).isSymbolicLink()) return leadsOut(entry, outermost) ? [] : [entry];
    return holdsPackages(name) && lstatSync(entry).isDirectory() ? withoutLinks(entry, outermost) : [entry];
  });
  const all = readdirSync(folder).length;
  const whole = found.length === all && found.every((entry) => dirname(entry) === folder);
  return whole ? [folder] : found;
}

/** Folders in which npm makes links. */
function holdsPackages(name: string): boolean {
  return name === 'node_modules' || name.startsWith('@');
}

function leadsOut(link: string, folder: string): boolean {
  try {
    return !realpathSync(link).startsWith(`${realpathSync(folder)}${sep}`);
  } catch {
    return true;
  }
}

/** Where Node looks for packages that a file in the folder imports, above the folder itself. */
function packagesAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = dirname(folder); ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (existsSync(packages)) found.push(packages);
    if (dirname(at) === at) return found;
  }
}
