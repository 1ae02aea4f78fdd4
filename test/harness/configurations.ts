import { join } from 'node:path';

export const projectRoot = join(import.meta.dirname, '../..');
const server = join(projectRoot, 'examples/analysis-server/server.mjs');

/**
 * The sample configuration (examples/spec-5.1.yaml) with everything it needs to run: the tools as written there, a
 * policy that allows them all, and their MCP server.
 */
export function workflowConfiguration(
  changes: { readonly limits?: string; readonly server?: string; readonly allowed?: string } = {},
): string {
  return `
tool:
  knowledge-query:
    type: knowledge-query
    name: "Knowledge Graph Query"
    description: "Query the knowledge graph for entities and relationships"
    group: ["read-only", "knowledge", "basic"]
    state: "analysis"
    available_in_states: ["undefined", "research"]
  graph-update:
    type: graph-update
    name: "Graph Update"
    description: "Add or modify entities in the knowledge graph"
    group: ["write", "knowledge", "admin"]
    available_in_states: ["analysis", "modification"]
  text-completion:
    type: text-completion
    name: "Text Completion"
    description: "Generate text using language models"
    group: ["read-only", "text", "basic"]
    state: "undefined"
  complex-analysis:
    type: mcp-tool
    name: "Complex Analysis Tool"
    description: "Perform complex data analysis"
    group: ["advanced", "compute", "expensive"]
    state: "results"
    available_in_states: ["analysis"]
    mcp_tool_id: "analysis-server"
  reset-workflow:
    type: mcp-tool
    name: "Reset Workflow"
    description: "Reset to initial state"
    group: ["admin"]
    state: "undefined"
    available_in_states: ["analysis", "results"]
policy:
  allowed_tools: [${changes.allowed ?? 'knowledge-query, graph-update, text-completion, complex-analysis, reset-workflow'}]
mcp:
  servers:
    analysis: { command: node, args: ["${changes.server ?? server}"], timeout_seconds: 5 }
  tools:
    analysis-server: { server: analysis, tool: complex-analysis, effect: read_only, redaction: [summary] }
    reset-workflow: { server: analysis, tool: reset-workflow, effect: state_change, idempotent: true, redaction: [status] }
${changes.limits ?? ''}
`;
}

/** The tools' ids, as models call them. */
export const ids = {
  query: 'core__knowledge-query',
  update: 'core__graph-update',
  text: 'core__text-completion',
  analysis: 'mcp__analysis__complex-analysis',
  reset: 'mcp__analysis__reset-workflow',
} as const;

export const calls = {
  query: [ids.query, '{"sparql":"SELECT * WHERE { ?s ?p ?o } LIMIT 1"}'],
  update: [ids.update, '{"add":[{"subject":"Sluice","predicate":"is","object":"tested"}]}'],
  analysis: [ids.analysis, '{"rows":[{"name":"a","size":1},{"name":"b","size":3}]}'],
  reset: [ids.reset, '{}'],
} as const;
