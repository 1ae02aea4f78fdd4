import type { z } from 'zod';
import type { Redaction, ToolEffect, ToolInvocationContext } from '@sluice/core';
import type { Capabilities, CapabilityName } from './capabilities.js';

/** What a tool's author writes. */
export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodType, Needed extends CapabilityName> {
  /** The `type` of a configuration entry. */
  readonly type: string;
  readonly description: string;
  /** Unknown top-level arguments are always refused; nested objects are written with z.strictObject. */
  readonly input: Input;
  readonly output: Output;
  readonly effect: ToolEffect;
  readonly redaction: Redaction;
  readonly capabilities: readonly Needed[];
  /** True if the same call twice changes nothing more. Read-only tools always are. */
  readonly repeatable: boolean;
  readonly requiresConnection: boolean;
  execute(
    args: z.output<Input>,
    context: ToolInvocationContext,
    capabilities: Pick<Capabilities, Needed>,
  ): Promise<z.input<Output>>;
}
