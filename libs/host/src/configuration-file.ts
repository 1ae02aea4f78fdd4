import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { compileConfiguration, serversOfPatterns, toolFolders } from '@sluice/configuration';
import { wellFormed } from '@sluice/core';
import type { AuthorizationFiles, CompilerInputs, NamesBefore, Pins } from '@sluice/configuration';
import type { Configuration, Finding, McpOffer, McpServer, Problem, ToolType } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { withPathsFrom } from './configuration-paths.js';
import { offsetOf, yamlProblems } from './yaml-offsets.js';

export interface Compiled {
  readonly configuration: Configuration | null;
  readonly problems: readonly Problem[];
  readonly findings: readonly Finding[];
}

/** What compiling a file needs from those who have the implementations. */
export interface CompileWith {
  /** The built-in types, and those that the folders bring. */
  types(
    folders: readonly string[],
  ): Promise<{ readonly types: readonly ToolType[]; readonly problems: readonly Problem[] }>;
  readonly cedarProblems: AuthorizationFiles['cedarProblems'];
  readonly cedarClaims?: NonNullable<AuthorizationFiles['cedarClaims']>;
  /** MCP tools as they were allowed, where no person looks at what changed. */
  readonly pins?: Pins;
  /** Under which names MCP clients know tools from before. */
  readonly names?: NamesBefore;
  /**
   * What is wrong with the file of `identity.key_file`, where it should be readable: here, and not only where the
   * filter runs.
   */
  keyFileProblem?(file: string): Promise<string | null>;
  readonly argumentsProblem?: CompilerInputs['argumentsProblem'];
  /** Whether an environment variable has a value here. */
  isSet?(variable: string): boolean;
  /** Reads a file that the configuration names; absent where every file of this machine may be read. */
  readFile?: AuthorizationFiles['read'];
  /** Asks the servers once what they offer. */
  discover(servers: readonly McpServer[]): Promise<readonly McpOffer[]>;
}

/** Reads and compiles a configuration file. A file that cannot be read or is not YAML is a problem like any other. */
export async function compileFile(file: string, given: CompileWith): Promise<Compiled> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const found = why(error, 'no such file');
    const write = 'the path of a configuration file; examples/ has some to start from';
    return { configuration: null, problems: [{ path: file, found, write }], findings: [] };
  }
  return compileText(text, file, given);
}

/** What a text compiles to, and where in it a path stands. */
interface CompiledText extends Compiled {
  placeOf(path: string): { readonly line: number; readonly column: number } | null;
}

/** Compiles the text of a configuration file, whose relative paths are those beside this file. */
export async function compileText(text: string, file: string, given: CompileWith): Promise<CompiledText> {
  const parsed = await parseYaml(text, file);
  if ('problems' in parsed)
    return { configuration: null, problems: parsed.problems, findings: [], placeOf: () => null };
  return { ...(await compileParsed(parsed, file, given)), placeOf: (path) => parsed.placeOf(path) };
}

async function compileParsed(parsed: Parsed, file: string, given: CompileWith): Promise<Compiled> {
  const { cedarProblems, cedarClaims, pins } = given;
  const value = withPathsFrom(file, parsed.value);
  const { types, problems } = await given.types(toolFolders(value));
  const held = {
    ...(pins === undefined ? {} : { pins }),
    ...(given.names === undefined ? {} : { names: given.names }),
    ...(given.argumentsProblem === undefined ? {} : { argumentsProblem: given.argumentsProblem }),
    ...(given.isSet === undefined ? {} : { isSet: (variable: string) => given.isSet?.(variable) ?? true }),
  };
  const files = {
    read: given.readFile ?? readNamed,
    cedarProblems,
    ...(cedarClaims === undefined ? {} : { cedarClaims }),
  };
  const compile = (offers: readonly McpOffer[]): Compiled =>
    parsed.positioned(
      withProblems(problems, compileConfiguration(value, { types, offers, ...held, digest: sha256, files })),
    );
  const alone = compile([]);
  const unreadable = await keyFileProblems(alone.configuration, given);
  if (unreadable.length > 0) return parsed.positioned(withProblems(unreadable, alone));
  const patterns = serversOfPatterns(value);
  const needed = neededServers(alone.configuration);
  const servers =
    alone.configuration?.mcpServers.filter((one) => needed.includes(one) || patterns.includes(one.id)) ?? [];
  return servers.length === 0 ? alone : compile(await given.discover(servers));
}

async function keyFileProblems(
  configuration: Configuration | null,
  { keyFileProblem }: Pick<CompileWith, 'keyFileProblem'>,
): Promise<readonly Problem[]> {
  const identity = configuration?.identity;
  if (identity?.provider !== 'jwt' || identity.keyFile === null || keyFileProblem === undefined) return [];
  const wrong = await keyFileProblem(identity.keyFile);
  const write = 'the path of a file with the keys, as JWKS or PEM, from the folder of the configuration';
  return wrong === null
    ? []
    : [{ path: 'identity.key_file', found: `the file ${identity.keyFile}, which ${wrong}`, write }];
}

function withProblems(problems: readonly Problem[], compiled: Compiled): Compiled {
  if (problems.length === 0) return compiled;
  // A type is unknown where the file that has it could not be loaded.
  const own = compiled.problems.filter(({ found }) => !found.startsWith('the unknown type '));
  return { configuration: null, problems: [...problems, ...own], findings: [] };
}

/** The servers of MCP tools that the policy allows: no other need be asked. */
export function neededServers(configuration: Configuration | null): readonly McpServer[] {
  if (configuration === null) return [];
  const allowed = new Set(configuration.policy.allowedTools);
  const needed = new Set(configuration.tools.filter((tool) => allowed.has(tool.id)).map((tool) => tool.mcp?.server));
  return configuration.mcpServers.filter((server) => needed.has(server.id));
}

interface Parsed {
  readonly value: unknown;
  /** The same with the lines and columns of its problems. */
  positioned(compiled: Compiled): Compiled;
  placeOf(path: string): { readonly line: number; readonly column: number } | null;
}

/** Keys that stand twice in a map are named so many at most. */
const mostRepeatedKeys = 200;

async function parseYaml(text: string, file: string): Promise<Parsed | { readonly problems: readonly Problem[] }> {
  const { isNode, isScalar, LineCounter, parseDocument, visit, YAMLParseError } = await import('yaml');
  const lines = new LineCounter();
  // Keys that stand twice are looked for below: the parser compares each key of a map with all before it.
  const document = parseDocument(text, { uniqueKeys: false, lineCounter: lines });
  if (document.errors.length === 0)
    visit(document, {
      Map: (_, map) => {
        const seen = new Set<unknown>();
        for (const { key } of map.items) {
          const name: unknown = isScalar(key) ? key.value : key;
          if (seen.has(name) && isNode(key) && document.errors.length < mostRepeatedKeys) {
            const at = key.range?.[0] ?? 0;
            const error = new YAMLParseError([at, at + 1], 'DUPLICATE_KEY', 'Map keys must be unique');
            error.linePos = [lines.linePos(at)];
            document.errors.push(error);
          }
          seen.add(name);
        }
      },
    });
  if (document.errors.length > 0) return { problems: yamlProblems(file, text, document.errors) };
  // A name or text may be written with half a character, as "\ud83d".
  visit(document, { Scalar: (_, scalar) => void (scalar.value = wellFormed(scalar.value)) });
  const placeOf: Parsed['placeOf'] = (path) => {
    const offset = offsetOf(document, path);
    if (offset === null) return null;
    const { line, col: column } = lines.linePos(offset);
    return { line, column };
  };
  const positioned = (compiled: Compiled): Compiled => ({
    ...compiled,
    problems: compiled.problems.map((problem) => {
      const place = problem.position === undefined ? placeOf(problem.path) : null;
      if (place === null) return problem;
      return { ...problem, position: `${file}:${String(place.line)}:${String(place.column)}` };
    }),
  });
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), positioned, placeOf };
  } catch (error) {
    return { problems: [{ path: file, found: why(error, ''), write: 'at most 100 aliases of what is written once' }] };
  }
}

/** A file that the configuration names. */
function readNamed(file: string): { readonly text: string } | { readonly error: string } {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { error: why(error, 'there is none') };
  }
}

/** Why a file cannot be read, in words. */
function why(error: unknown, missing: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return 'a folder';
  return code === 'ENOENT' ? missing : message;
}
