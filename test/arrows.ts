/** Which part of the house may import which; docs/design.md shows it as a table. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  records: [],
  core: ['records'],
  schemas: ['core'],
  configuration: ['core', 'schemas'],
  contracts: ['records', 'core'],
  sqlite: ['core'],
  bus: ['core', 'contracts', 'sqlite'],
  ledger: ['core', 'contracts', 'sqlite'],
  content: ['core'],
  patterns: ['core', 'schemas'],
  tools: ['core', 'schemas', 'patterns'],
  isolation: ['core', 'schemas', 'tools'],
  openapi: ['core', 'isolation'],
  hub: ['core', 'schemas', 'openapi'],
  packs: ['core', 'sqlite', 'patterns', 'tools', 'isolation'],
  sources: ['core', 'schemas', 'patterns', 'tools', 'isolation', 'hub'],
  wires: ['core'],
  model: ['core', 'wires'],
  authorization: ['core'],
  identity: ['core'],
  connections: ['core'],
  tokens: ['core'],
  discovery: ['records', 'core', 'tokens', 'patterns'],
  proxy: ['core', 'wires', 'discovery'],
  run: ['core', 'schemas', 'contracts', 'bus', 'tokens'],
  notify: ['core', 'isolation'],
  archive: ['core', 'contracts', 'bus', 'run'],
  replay: ['core', 'contracts', 'bus', 'run'],
  audit: ['core', 'contracts', 'bus'],
  projection: ['core', 'contracts', 'sqlite', 'bus'],
  mcp: ['core', 'contracts', 'run'],
  host: ['core', 'configuration', 'contracts', 'bus', 'ledger', 'content', 'identity', 'run'],
  backup: ['core', 'contracts', 'sqlite', 'bus', 'run', 'host'],
  apps: [
    ...[
      'core',
      'schemas',
      'configuration',
      'contracts',
      'bus',
      'ledger',
      'tools',
      'isolation',
      'hub',
      'packs',
      'sources',
      'model',
      'authorization',
      'identity',
      'connections',
      'host',
    ],
    ...['run', 'archive', 'audit', 'replay', 'discovery', 'proxy', 'wires', 'mcp', 'projection', 'tokens'],
    ...['patterns', 'backup', 'notify'],
  ],
  // The pages of the console know what the API can, through its client, and nothing else.
  console: ['client'],
};

export interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Each import that goes against the arrows, as a sentence. */
export function violations(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const part = partOf(path);
    if (part === null) return [];
    return importsOf(text)
      .filter((specifier) => !isAllowed(part, path, specifier))
      .map((specifier) => `${path} imports ${specifier}`);
  });
}

/** Holds the text of files that `sluice init` writes, which others run. */
const starterFiles = 'apps/sluice/src/starter-files.ts';

/** Each reading of the environment outside libs/host, as a sentence. */
export function environmentReaders(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(
      ({ path, text }) =>
        !path.startsWith('libs/host/') &&
        path !== starterFiles &&
        /\bprocess\s*\.\s*env\b|\bprocess\s*\[\s*['"]env/.test(text),
    )
    .map(({ path }) => `${path} reads process.env`);
}

export function importsOf(text: string): readonly string[] {
  const pattern =
    /(?:^|[\s;}])(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;}])import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function partOf(path: string): string | null {
  const [top, name] = path.split('/');
  if (top === 'apps') return name === 'console' ? 'console' : 'apps';
  return top === 'libs' && name !== undefined ? name : null;
}

function isAllowed(part: string, path: string, specifier: string): boolean {
  const library = /^@sluice\/([^/]+)(\/.*)?$/.exec(specifier);
  if (library !== null) return library[2] === undefined && (mayImport[part] ?? []).includes(library[1] ?? '');
  if (specifier.startsWith('.')) {
    const home = path.split('/').slice(0, 2).join('/');
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
    // apps/sluice runs all services in one process, so it alone may reach into the other apps.
    // The one place where the program’s version stands.
    if (target === 'package.json') return part === 'core';
    // The check of Node’s version runs before anything else is loaded, and starts a clone and the package as well.
    if (target === 'bin/node-version.mjs') return path === 'apps/sluice/src/entry.ts';
    // The editor of candidates completes and checks by the schema of configurations.
    if (target === 'schemas/configuration.schema.json') return part === 'console';
    return target.startsWith(`${home}/`) || (path.startsWith('apps/sluice/') && target.startsWith('apps/'));
  }
  // Rules hold patterns to linear time, which takes this engine: pure, and without a dependency of its own.
  return part !== 'core' || specifier === 're2js';
}

/** The files of each circle of imports, sorted; type imports count, since a reader has to follow them too. */
export function circles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const paths = new Set(files.map(({ path }) => path));
  const targets = new Map(
    files.map(({ path, text }) => [path, relativeImports(path, text).filter((to) => paths.has(to))]),
  );
  const reached = new Map(files.map(({ path }) => [path, reachable(path, targets)]));
  const inCircles = [...paths].filter((path) => reached.get(path)?.has(path) === true);
  const circleOf = (path: string): string =>
    inCircles
      .filter((other) => reached.get(path)?.has(other) === true && reached.get(other)?.has(path) === true)
      .sort()
      .join('\n');
  return [...new Set(inCircles.map(circleOf))].sort().map((circle) => circle.split('\n'));
}

function relativeImports(path: string, text: string): readonly string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => new URL(specifier, `file:///${path}`).pathname.slice(1))
    .flatMap((target) => ['.ts', '.tsx'].map((ending) => target.replace(/\.js$/, ending)));
}

/** What can be reached from a file in one step or more. */
function reachable(from: string, targets: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...(targets.get(from) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(targets.get(next) ?? []));
  }
  return found;
}
