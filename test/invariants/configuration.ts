import { createHash } from 'node:crypto';
import { compileConfiguration } from '@sluice/configuration';
import type { ConfiguredTool } from '@sluice/core';
import { toolTypes } from '@sluice/tools';
import type { ToolContract } from '@sluice/tools';

/** The contract as a configuration with nothing else in it has it. */
export function configurationWith(contract: ToolContract): ConfiguredTool {
  const { configuration } = compileConfiguration(
    { tool: { [contract.type]: { type: contract.type } }, policy: { allowed_tools: ['*'] } },
    {
      types: toolTypes([contract]),
      offers: [],
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      files: { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] },
    },
  );
  const tool = configuration?.tools[0];
  if (tool === undefined) throw new Error('The configuration does not compile.');
  return tool;
}
