import { globSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

export interface Source {
  /** From the project's root, with forward slashes. */
  readonly path: string;
  readonly file: ts.SourceFile;
}

export interface Sources {
  readonly checker: ts.TypeChecker;
  /** What the project ships: libs, apps and the probes; no tests, no measurements. */
  readonly files: readonly Source[];
  /** What the compiler says of one file, a text each. */
  errorsIn(path: string): readonly string[];
  /** The type that a library exports under a name. */
  typeNamed(path: string, name: string): ts.Type;
}

/** The project as its compiler sees it, with some files more that are nowhere but here. */
export function readSources(probes: Readonly<Record<string, string>> = {}): Sources {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    root,
  );
  const more = new Map(Object.entries(probes).map(([path, text]) => [join(root, path), text]));
  const host = ts.createCompilerHost({ ...options, noEmit: true, incremental: false });
  const { fileExists, readFile } = host;
  host.fileExists = (path) => more.has(path) || fileExists(path);
  host.readFile = (path) => more.get(path) ?? readFile(path);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, language, ...rest) => {
    const text = more.get(path);
    return text === undefined
      ? getSourceFile(path, language, ...rest)
      : ts.createSourceFile(path, text, language, true);
  };
  const own = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: root }).map((path) => join(root, path));
  const program = ts.createProgram([...own, ...more.keys()], { ...options, noEmit: true, incremental: false }, host);
  const checker = program.getTypeChecker();
  const find = (path: string): ts.SourceFile => {
    const file = program.getSourceFile(join(root, path));
    if (file === undefined) throw new Error(`There is no source file ${path}.`);
    return file;
  };
  const relative = (path: string): string => path.slice(root.length + 1).replaceAll('\\', '/');
  return {
    checker,
    files: [...own, ...more.keys()].map((path) => ({ path: relative(path), file: find(relative(path)) })),
    errorsIn: (path) =>
      program
        .getSemanticDiagnostics(find(path))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    typeNamed: (path, name) => {
      const symbol = checker.getSymbolAtLocation(find(path));
      const found = symbol && checker.getExportsOfModule(symbol).find((one) => one.name === name);
      if (found === undefined) throw new Error(`${path} exports no ${name}.`);
      return checker.getDeclaredTypeOfSymbol(found);
    },
  };
}
