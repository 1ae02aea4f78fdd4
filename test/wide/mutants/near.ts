import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const most = 6;

/** Of a room whose tests go through its doors and name no part of it. */
const mostOfRoom = 16;

/**
 * Which test files are near a source file: those of its room that use one of its exported names, by themselves or in
 * a file that they share, or else those of the files that import it. A library and a service of one name are one
 * room.
 */
export class NearbySuites {
  private readonly suites: ReadonlyMap<string, string>;
  private readonly sources: ReadonlyMap<string, string>;

  constructor(root: string) {
    const find = (patterns: readonly string[]): readonly string[] => globSync([...patterns], { cwd: root }).sort();
    const read = (path: string): string => readFileSync(join(root, path), 'utf8');
    const shared = new Map<string, string>();
    const withShared = (suite: string): string => {
      const text = read(suite);
      const imports = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, from = '']) =>
        join(dirname(suite), from.replace(/\.js$/, '.ts')),
      );
      for (const path of imports)
        if (!shared.has(path)) shared.set(path, existsSync(join(root, path)) ? read(path) : '');
      // The sources that a suite imports by their path say nothing of what it uses.
      return [text, ...imports.filter((path) => !path.includes('/src/')).map((path) => shared.get(path))].join('\n');
    };
    const tests = ['{libs,apps}/*/test/**/*.test.ts', 'test/{gateway,mcp,proxy,tool-use}/*.test.ts'];
    this.suites = new Map(find(tests).map((path) => [path, withShared(path)]));
    this.sources = new Map(find(['{libs,apps}/*/src/**/*.ts']).map((path) => [path, read(path)]));
  }

  of(file: string): readonly string[] {
    const room = file.split('/')[1] ?? '';
    const ofRoom = [...this.suites.keys()].filter(
      (path) => path.startsWith(`test/${room}/`) || path.split('/')[1] === room,
    );
    let files: readonly string[] = [file];
    const seen = new Set(files);
    for (let level = 0; level < 4 && files.length > 0; level++) {
      const found = this.mentioning(ofRoom, files);
      if (found.length > 0) return found;
      files = files.flatMap((path) => this.importersOf(path)).filter((path) => !seen.has(path));
      for (const path of files) seen.add(path);
    }
    return ofRoom.slice(0, mostOfRoom);
  }

  private mentioning(suites: readonly string[], files: readonly string[]): readonly string[] {
    const names = files.flatMap((path) => this.exportsOf(path));
    if (names.length === 0) return [];
    const pattern = new RegExp(`\\b(?:${names.join('|')})\\b`, 'g');
    return suites
      .map((path) => [path, this.suites.get(path)?.match(pattern)?.length ?? 0] as const)
      .filter(([, count]) => count > 0)
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([path]) => path);
  }

  private exportsOf(file: string): readonly string[] {
    const source = this.sources.get(file) ?? '';
    const found = source.matchAll(/^export (?:async )?(?:abstract )?(?:function|class|const) (\w+)/gm);
    return [...found].flatMap(([, name]) => name ?? []);
  }

  private importersOf(file: string): readonly string[] {
    const [kind, room, ...rest] = file.split('/');
    const name = rest.at(-1)?.replace(/\.ts$/, '.js') ?? '';
    return [...this.sources]
      .filter(([path, source]) => path.startsWith(`${kind}/${room}/`) && source.includes(`/${name}'`))
      .map(([path]) => path);
  }
}
