/** Which part of the house may import which (core ← contracts ← bus, ledger ← decisions ← service ← apps; sqlite is what bus and ledger share; tools, model, authorization, identity and connections implement ports of core). */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  contracts: ['core'],
  sqlite: ['core'],
  bus: ['core', 'contracts', 'sqlite'],
  ledger: ['core', 'contracts', 'sqlite'],
  tools: ['core'],
  wires: ['core'],
  model: ['core', 'wires'],
  authorization: ['core'],
  identity: ['core'],
  connections: ['core'],
  decisions: ['core', 'contracts', 'bus'],
  archive: ['core', 'contracts', 'bus', 'decisions'],
  replay: ['core', 'contracts', 'bus', 'decisions'],
  audit: ['core', 'contracts', 'bus'],
  service: ['core', 'contracts', 'bus', 'ledger', 'identity', 'decisions'],
  apps: [
    ...['core', 'contracts', 'bus', 'ledger', 'tools', 'model', 'authorization', 'identity', 'connections', 'service'],
    ...['decisions', 'archive', 'audit', 'replay'],
  ],
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

/** Each reading of the environment outside libs/service, as a sentence. */
export function environmentReaders(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(
      ({ path, text }) =>
        !path.startsWith('libs/service/') && /\bprocess\s*\.\s*env\b|\bprocess\s*\[\s*['"]env/.test(text),
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
  if (top === 'apps') return 'apps';
  return top === 'libs' && name !== undefined ? name : null;
}

function isAllowed(part: string, path: string, specifier: string): boolean {
  const library = /^@sluice\/([^/]+)(\/.*)?$/.exec(specifier);
  if (library !== null) return library[2] === undefined && (mayImport[part] ?? []).includes(library[1] ?? '');
  if (specifier.startsWith('.')) {
    const home = path.split('/').slice(0, 2).join('/');
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
    // apps/sluice runs all services in one process, so it alone may reach into the other apps.
    return target.startsWith(`${home}/`) || (path.startsWith('apps/sluice/') && target.startsWith('apps/'));
  }
  return part !== 'core';
}
