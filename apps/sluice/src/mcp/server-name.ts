import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';

/** Programs that run a package, a module, a file or an image that an argument names. */
const runners =
  /^(?:npx|uvx|bunx|bun|pnpx|pnpm|yarn|pipx|uv|node|tsx|python[\d.]*|deno|docker|podman)(?:\.exe|\.cmd)?$/;
/** Words of these programs that name nothing. */
const verbs = new Set(['run', 'exec', 'dlx', 'x', 'tool']);
/** Options whose value is the next argument. */
const withValue =
  /^(?:-e|-m|--memory|--env|--env-file|-v|--volume|--mount|-p|--publish|--network|--name|-w|--workdir|-u|--user|--python|--with|-r|--require|--import|--directory|--project|--loader|--platform|--entrypoint)$/;
/** Options whose value is the package. */
const ofPackage = /^(?:--package|--from|--spec)$/;
/** What says no more than that it is a server of the protocol. */
const saysNothing = new Set([
  '',
  'mcp',
  'server',
  'index',
  'main',
  'cli',
  'start',
  'app',
  'src',
  'dist',
  'bin',
  'build',
]);

/**
 * How a server is called in a suggested configuration, by the package of its command:
 * `npx -y @modelcontextprotocol/server-filesystem .` is `filesystem`, `npx @playwright/mcp@latest` is `playwright`.
 */
export function nameOfCommand([command = '', ...args]: readonly string[]): string {
  return named(partsOf(runners.test(basename(command)) ? (subjectOf(basename(command), args) ?? command) : command));
}

export function nameOfUrl(url: string): string {
  return asName(URL.canParse(url) ? new URL(url).hostname.replace(/^(?:mcp|www|api)\./, '') : url);
}

/** The argument that names what is run; undefined where there is none. */
function subjectOf(runner: string, args: readonly string[]): string | undefined {
  // `-p` of an image is a port, and `-m` its memory.
  const short = /^npx/.test(runner) ? '-p' : /^python/.test(runner) ? '-m' : null;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const [option = '', value] = arg.split(/=(.*)/s);
    if (ofPackage.test(option) || option === short) return value ?? args[at + 1];
    if (withValue.test(arg)) at++;
    else if (!arg.startsWith('-') && !verbs.has(arg)) return arg;
  }
  return undefined;
}

/** The names that lead to it, the nearest last: of a package its scope and name, of a file its package or its path. */
function partsOf(subject: string): readonly string[] {
  const isFile = /^[./~]|^[A-Za-z]:[\\/]|\.(?:[cm]?[jt]sx?|py)$/.test(subject);
  if (isFile) {
    const path = resolve(subject);
    const inModules = path.split(`${sep}node_modules${sep}`).at(-1)?.split(sep) ?? [];
    if (path.includes(`${sep}node_modules${sep}`) && inModules.length > 1)
      return inModules.slice(0, inModules[0]?.startsWith('@') === true ? 2 : 1);
    const around = path.endsWith('.py') ? null : packageAround(path);
    const inside = path.slice(around?.folder.length ?? 0).replace(/\.\w+$/, '');
    return [...(around?.name.split('/') ?? []), ...inside.split(sep)];
  }
  // Of an address or an image what comes last; a version, a tag and what a package is asked to have besides are none.
  return subject
    .replace(/^git\+/, '')
    .replace(/(?<=.)@[^/]*$|(?<=.):[^/]*$|\[[^\]]*\]|[=<>~!]=.*$|\.git$/g, '')
    .split('/');
}

/** The package that a file is in: of its folder, or of one above it. */
function packageAround(file: string): { readonly folder: string; readonly name: string } | null {
  for (let folder = dirname(file), up = 0; up < 5 && folder !== dirname(folder); folder = dirname(folder), up++) {
    try {
      const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown };
      return typeof name === 'string' && name !== '' ? { folder, name } : null;
    } catch {
      // None here, or none that can be read: the folder above may have one.
    }
  }
  return null;
}

/** The last part that says something: of `@playwright/mcp` the scope. */
function named(parts: readonly string[]): string {
  const plain = parts.map((part) =>
    part
      .replace(/^@/, '')
      .replace(/[_.]+/g, '-')
      .replace(/^(?:mcp-)?server-|^mcp-|-mcp(?:-server)?$|-server$/g, ''),
  );
  return asName(plain.findLast((part) => !saysNothing.has(part)) ?? '');
}

function asName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9-]+/g, '-').replace(/^-+|-+$/g, '');
  return name === '' || name === 'unbound' ? 'server' : name;
}
