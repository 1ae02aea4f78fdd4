import { realpathSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { cedarClaims, cedarProblems } from '@sluice/authorization';
import { namesBefore, pinKeyOf } from '@sluice/configuration';
import type { AuthorizationFiles } from '@sluice/configuration';
import { versionOf } from '@sluice/core';
import type { Configuration, McpOffer, McpServer, ToolType } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { builtInTools } from '@sluice/packs';
import { toolTypes } from '@sluice/tools';
import { compileText } from '@sluice/host';
import type { Environment } from '@sluice/host';

/** Bytes of a file with policies of an authorizer. */
const longestFile = 1_048_576;
const policyFile = /\.(?:cedar|cedarschema|json)$/;

/** What is known here of the world outside a candidate: the configuration in force, and where its file is. */
interface Known {
  readonly current: Configuration | null;
  /** The file that it was compiled from. */
  readonly source: string | null;
  readonly environment: Pick<Environment, 'bus' | 'forChild'>;
}

/**
 * Compiles the text of a candidate as `sluice check` does, but starts no server and runs no tool file: a text that
 * came over HTTP could name any program. MCP tools and types of tool files are those of the configuration in force; a
 * server that it does not have offers nothing here.
 */
export async function compileCandidate(text: string, known: Known): ReturnType<typeof compileText> {
  const { current, source, environment } = known;
  const isBeside = environment.bus === 'sqlite' && source !== null;
  const compiled = await compileText(text, isBeside ? source : 'candidate.yaml', {
    names: namesBefore(current),
    types: (folders) => Promise.resolve({ types: typesFor(folders, current), problems: [] }),
    cedarProblems,
    cedarClaims,
    readFile: isBeside ? readingBeside(source) : () => ({ error: notReadHere }),
    isSet: (variable) => environment.forChild([variable])[variable] !== undefined,
    discover: (servers) => Promise.resolve(servers.map((server) => knownOffer(server, current))),
  });
  const { configuration } = compiled;
  return { ...compiled, configuration: configuration === null ? null : asAllowed(configuration, current) };
}

/** With what MCP tools were allowed as: the servers’ own words are not at hand, and stay what they were. */
function asAllowed(candidate: Configuration, current: Configuration | null): Configuration {
  const known = new Map(
    (current?.tools ?? []).flatMap((tool) => (tool.mcp === null ? [] : [[pinKeyOf(tool.mcp), tool]])),
  );
  const { version: _, ...content } = candidate;
  const tools = content.tools.map((tool) => {
    const was = tool.mcp === null || tool.mcp.pin === null ? undefined : known.get(pinKeyOf(tool.mcp));
    if (was === undefined || was.mcp === null || was.spec === null || tool.mcp === null || tool.spec === null)
      return tool;
    const { pin, nulls } = was.mcp;
    const { inputSchema, schemaHash } = was.spec;
    const mcp = { ...tool.mcp, pin, ...(nulls === undefined ? {} : { nulls }) };
    return { ...tool, mcp, spec: { ...tool.spec, inputSchema, schemaHash } };
  });
  const whole = { ...content, tools };
  return { version: versionOf(whole, sha256), ...whole };
}

/** The built-in types, and of the types of these folders those that the configuration in force has. */
function typesFor(folders: readonly string[], current: Configuration | null): readonly ToolType[] {
  const named = new Set(folders.map((folder) => resolve(folder)));
  const found = new Map<string, ToolType>();
  for (const { type, spec, file, category, repeatable, connection } of current?.tools ?? []) {
    if (file === undefined || spec === null || !named.has(dirname(resolve(file.path)))) continue;
    const { description, inputSchema, effect, redaction } = spec;
    found.set(type, {
      ...{ type, description, inputSchema, effect, redaction, repeatable, file },
      ...(category === undefined ? {} : { category }),
      ...(connection === undefined ? {} : { requiresConnection: true }),
    });
  }
  return [...toolTypes(builtInTools), ...found.values()];
}

/** What the server offers, as the configuration in force has it: known where it has the same entry for the server. */
function knownOffer(server: McpServer, current: Configuration | null): McpOffer {
  const same = current?.mcpServers.some((one) => JSON.stringify(one) === JSON.stringify(server)) === true;
  if (!same) return { server: server.id, error: notAskedHere(server.id) };
  const tools = (current?.tools ?? []).flatMap(({ mcp, spec, title, icons }) =>
    mcp === null || mcp.server !== server.id || mcp.kind !== undefined || spec === null
      ? []
      : [
          {
            ...{ name: mcp.tool, description: spec.description, inputSchema: spec.inputSchema, title },
            outputSchema: mcp.outputSchema,
            ...(icons === undefined ? {} : { icons }),
          },
        ],
  );
  return { server: server.id, tools: [...new Map(tools.map((tool) => [tool.name, tool])).values()] };
}

function notAskedHere(id: string): string {
  return `The MCP server ${id} is not in the configuration in force with this entry, and no server is asked over HTTP. Check the file with \`sluice check FILE\` to see what it offers.`;
}

const notReadHere = 'one that is not read over HTTP; check the file with `sluice check FILE`';

/** Policies beside the configuration file, and no other file of this machine. */
function readingBeside(source: string): AuthorizationFiles['read'] {
  return (file) => {
    try {
      const folder = realpathSync(dirname(resolve(source)));
      const path = realpathSync(resolve(file));
      const isInside = path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
      if (!isInside || !policyFile.test(path) || statSync(path).size > longestFile) return { error: notReadHere };
      return { text: readFileSync(path, 'utf8') };
    } catch {
      return { error: notReadHere };
    }
  };
}
