import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration, GraphSettings, Neo4jSettings } from '@sluice/core';
import { sentenceList, ToolUnavailableError } from '@sluice/core';
import { dataFiles } from '@sluice/host';
import type { Environment, Runtime } from '@sluice/host';
import { openEmbeddedGraph, openNeo4jGraph, readGraphFiles } from '@sluice/packs';
import type { PropertyGraph, ServedGraph } from '@sluice/packs';
import type { ToolContract } from '@sluice/tools';

/** Graphs that are kept open; the one that was used least lately is closed, and opened again where it is used. */
const mostOpen = 32;

const byDefault: GraphSettings = { folder: null, load: [] };

type Place = Pick<Environment, 'bus' | 'dataFolder' | 'secret'>;

/** The graphs of requirements: one a tenant, which sees no other’s; in files, or in the databases of a Neo4j server. */
export class RequirementGraphs {
  private readonly open = new Map<string, PropertyGraph>();

  constructor(private readonly runtime: Pick<Runtime, 'environment' | 'log'>) {}

  /** Throws ToolUnavailableError if there is no place for it, or a file that it begins with cannot be used. */
  of({ graph: settings = byDefault }: Configuration, tenantId: string): PropertyGraph {
    const key = JSON.stringify([settings, tenantId]);
    const graph = this.open.get(key) ?? this.opened(settings, tenantId);
    this.open.delete(key);
    this.open.set(key, graph);
    for (const [oldest, other] of this.open) {
      if (this.open.size <= mostOpen) break;
      this.open.delete(oldest);
      void other.close();
    }
    return graph;
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.values()].map((graph) => graph.close()));
    this.open.clear();
  }

  /**
   * Logs what keeps the graphs on a server from being used, which keeps no service from starting: the server may come
   * back.
   */
  async check(configuration: Configuration): Promise<void> {
    const tenants = Object.keys(configuration.graph?.neo4j?.databases ?? {});
    // Another one than the calls use, so that it closes none of theirs.
    for (const tenant of tenants.slice(0, mostOpen)) {
      const graph = this.opened(configuration.graph ?? byDefault, tenant) as ServedGraph;
      await graph.problem().finally(() => graph.close());
    }
  }

  private opened(settings: GraphSettings, tenantId: string): PropertyGraph {
    if (settings.neo4j !== undefined) return this.served(settings, settings.neo4j, tenantId);
    const folder = folderOf(settings, this.runtime.environment);
    if (folder === null) throw new ToolUnavailableError('There is no folder for graphs of requirements here.');
    const name = createHash('sha256').update(tenantId).digest('hex').slice(0, 32);
    try {
      return openEmbeddedGraph(join(folder, `${name}.sqlite`), readGraphFiles(settings.load));
    } catch (error) {
      this.runtime.log.error({ error: (error as Error).message }, 'the graph of requirements cannot be opened');
      throw new ToolUnavailableError('The graph of requirements cannot be opened.', { cause: error });
    }
  }

  private served({ load }: GraphSettings, neo4j: Neo4jSettings, tenantId: string): ServedGraph {
    const database = Object.hasOwn(neo4j.databases, tenantId) ? neo4j.databases[tenantId] : undefined;
    if (database === undefined) throw new ToolUnavailableError('There is no graph of requirements for this tenant.');
    try {
      const password = (): string | undefined => this.runtime.environment.secret(neo4j.passwordEnv);
      const report = (error: string): void =>
        this.runtime.log.error({ tenant: tenantId, error }, 'the graph of requirements cannot be used');
      return openNeo4jGraph({ ...neo4j, database, password, report }, readGraphFiles(load));
    } catch (error) {
      this.runtime.log.error({ error: (error as Error).message }, 'the graph of requirements cannot be opened');
      throw new ToolUnavailableError('The graph of requirements cannot be opened.', { cause: error });
    }
  }
}

/** The allowed tools that work on the graph. */
export function usingGraph({ tools, policy }: Configuration, contracts: readonly ToolContract[]) {
  const types = new Set(contracts.filter(({ capabilities }) => capabilities.includes('graph')).map(({ type }) => type));
  return tools.filter(({ id, type }) => types.has(type) && policy.allowedTools.includes(id));
}

/** Throws a sentence if an allowed tool needs the graph and its folder or a file of `graph.load` cannot be used. */
export function requireGraph(configuration: Configuration, contracts: readonly ToolContract[], place: Place): void {
  const { graph = byDefault } = configuration;
  const using = usingGraph(configuration, contracts);
  if (using.length === 0) return;
  if (graph.neo4j !== undefined) {
    const { passwordEnv, url } = graph.neo4j;
    if (place.secret(passwordEnv) === undefined)
      throw new Error(
        `The variable ${passwordEnv} with the password of the Neo4j server at ${url} is not set, and the policy allows ${sentenceList(using.map(({ id }) => id))}. Set it, or name another in graph.neo4j.password_env.`,
      );
    readGraphFiles(graph.load);
    return;
  }
  const folder = folderOf(graph, place);
  if (folder === null)
    throw new Error(
      `graph.folder is not set, and the policy allows ${sentenceList(using.map(({ id }) => id))}. A graph in a file is for one machine: on Kafka name a folder on its disk, or a server in graph.neo4j, or take these tools out of policy.allowed_tools.`,
    );
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(
      `The folder of the graphs ${folder} cannot be written: ${(error as Error).message}. Set graph.folder to one that can.`,
      { cause: error },
    );
  }
  readGraphFiles(graph.load);
}

/**
 * On Kafka there are executors on other machines, with data folders of their own: then there is none unless it is
 * named.
 */
function folderOf({ folder }: GraphSettings, { bus, dataFolder }: Place): string | null {
  return folder ?? (bus === 'kafka' ? null : dataFiles({ dataFolder }).graphs);
}
