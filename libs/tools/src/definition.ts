import type { z } from 'zod';
import type { Redaction, ToolEffect, ToolInvocationContext, ToolNetwork } from '@sluice/core';
import type { Capabilities } from './capabilities.js';

/** What a tool's author writes. */
export interface ToolDefinition<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Needed extends keyof Given & string,
  Given = Capabilities,
> {
  /** The `type` of a configuration entry. */
  readonly type: string;
  readonly description: string;
  /**
   * When to use it, in a sentence of 20 to 30 tokens, for a model that is not shown the description. Left out, its
   * first sentence.
   */
  readonly shortDescription?: string;
  /** The pack that the documentation lists it under, such as `workspace`. Left out, `other`. */
  readonly category?: string;
  /** Unknown top-level arguments are always refused; nested objects are written with z.strictObject. */
  readonly input: Input;
  readonly output: Output;
  readonly effect: ToolEffect;
  readonly redaction: Redaction;
  readonly capabilities: readonly Needed[];
  /** True if the same call twice changes nothing more. Read-only tools always are. */
  readonly repeatable: boolean;
  readonly requiresConnection: boolean;
  /** What its own code may reach of a network, where it is a file of its own; left out, nothing. */
  readonly network?: 'none' | ToolNetwork;
  execute(
    args: z.output<Input>,
    context: ToolInvocationContext,
    capabilities: Pick<Given, Needed>,
  ): Promise<z.input<Output>>;
  /**
   * Whether an earlier call of this key took effect, for a call whose end is not known. It must change nothing. What
   * it throws, and no answer in time, counts as `unknown`.
   */
  reconcile?(
    args: z.output<Input>,
    call: ToolInvocationContext & { readonly key: string },
    capabilities: Pick<Given, Needed>,
  ): Promise<Reconciled<z.input<Output>>>;
}

/** What a tool says of an earlier call: with the result that the call would have given, if it happened. */
type Reconciled<Result> =
  | { readonly outcome: 'happened'; readonly result: Result }
  | { readonly outcome: 'did_not_happen' }
  | { readonly outcome: 'unknown' };
