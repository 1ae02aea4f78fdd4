export { capabilityNames } from './capabilities.js';
export type {
  Capabilities,
  CapabilityName,
  OwnProgress,
  SearchedToolset,
  ServiceCapabilities,
  TextCapability,
} from './capabilities.js';
export { defineTool, definingWith, isContract, rawBytes, readReconciled, toolTypes } from './contract.js';
export type { OwnContract, ToolContract } from './contract.js';
export type { ToolDefinition } from './definition.js';
export { openObjects } from './input-schema.js';
export { isDeclared, isNetwork } from './network.js';
export { answerChecker } from './binding/answer-check.js';
export { checkingTools } from './binding/checking-tools.js';
export { named, pointer } from './binding/input.js';
export { argumentsProblem, jsonSchemaInput, jsonSchemaOutput } from './binding/json-schema-input.js';
export { bindTool } from './binding/own-tool.js';
export { redact } from './binding/redact.js';
export { schemaInput } from './binding/schema-input.js';
export { specOf } from './binding/spec.js';
export { authOf, clientsOf } from './connection/auth.js';
export type { CallCredential, ConnectionClient, OwnAuth } from './connection/auth.js';
export type { Answer, Cell, ChangeOutcome, ChangeRequest, KnowledgeStore, Row, Statement } from './ports/knowledge.js';
export { priorities } from './ports/todos.js';
export type { Priority, Status, Todo, TodoList, Todos } from './ports/todos.js';
export { workspaceLimits } from './ports/workspace.js';
export type {
  Entry,
  EntryKind,
  FilePart,
  Listing,
  Match,
  Matches,
  Usage,
  Workspace,
  Workspaces,
  Written,
} from './ports/workspace.js';
