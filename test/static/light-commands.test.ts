import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** What a file imports when it is loaded: neither types nor what `import()` brings later. */
function loadedBy(text: string): readonly string[] {
  const statements = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
  return [...text.matchAll(statements)].map((match) => match[1] ?? '');
}

function fileOf(specifier: string, from: string): string | null {
  if (specifier.startsWith('@sluice/')) return join(root, 'libs', specifier.slice('@sluice/'.length), 'src/index.ts');
  return specifier.startsWith('.') ? join(dirname(from), specifier.replace(/\.js$/, '.ts')) : null;
}

/** The packages that a file loads, each with the file that imports it. */
function packagesOf(entry: string): ReadonlyMap<string, string> {
  const packages = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path) || !existsSync(path)) return;
    seen.add(path);
    for (const specifier of loadedBy(readFileSync(path, 'utf8'))) {
      const file = fileOf(specifier, path);
      if (file !== null) visit(file);
      else packages.set(specifier, relative(root, path));
    }
  };
  visit(join(root, entry));
  return packages;
}

/**
 * Commands that a person or a script starts often: each package below costs a tenth of a second or more of every
 * start.
 */
const light = ['ask', 'approvals', 'audit', 'call', 'config', 'dead-letters', 'runs', 'tail', 'topics'];
const heavy = /^(@nestjs|rxjs|kafkajs|@kafkajs|pg$|zod|ajv|@opentelemetry|@modelcontextprotocol)/;

describe('a command that starts no service', () => {
  it.each(light)('%s loads neither Nest nor the clients of Kafka and PostgreSQL', (command) => {
    const found = [...packagesOf(`apps/sluice/src/commands/${command}.ts`)].filter(([name]) => heavy.test(name));
    expect(found).toEqual([]);
  });

  it('is seen to load them where it does', () => {
    expect([...packagesOf('apps/sluice/src/commands/start.ts').keys()]).toContain('@nestjs/common');
  });
});

it('a library is named in static imports alone, since the build finds it in no others', () => {
  const sources = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root });
  expect(sources.filter((path) => /\bimport\('@sluice\//.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
});
