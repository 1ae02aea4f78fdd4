import type { BoundTool, ConfiguredTool } from '@sluice/core';
import type { ToolContract } from '../contract.js';
import { redact } from './redact.js';
import { specOf } from './spec.js';

/** One configured tool with the code of its type. Throws if its configuration has no specification. */
export function bindTool(contract: ToolContract, tool: ConfiguredTool): BoundTool {
  const spec = specOf(tool);
  const { execute, reconcile, parseInput, parseOutput } = contract;
  return Object.freeze({
    id: tool.id,
    spec,
    effect: spec.effect,
    requiresConnection: contract.requiresConnection,
    capabilities: contract.capabilities,
    repeatable: tool.repeatable || spec.effect === 'read_only',
    validateInput: parseInput,
    exec: execute,
    ...(reconcile === undefined ? {} : { reconcile }),
    validateOutput: parseOutput,
    redact: (output) => redact(spec.redaction, output),
  } satisfies BoundTool);
}
