import { JsonTooLargeError, ToolInputError, ToolProcessEndedError, parseExactJson, plainJson } from '@sluice/core';
import type { JsonValue, ReconcileAnswer, ToolCapabilities, ToolInvocationContext } from '@sluice/core';
import { rawBytes, readReconciled } from '@sluice/tools';
import type { Capabilities, ToolContract } from '@sluice/tools';
import { receivedError } from './errors.js';
import type { SentOutput, ToolDescription } from './messages.js';
import { ServedCall } from './serve-call.js';
import { ProcessEndedError } from './tool-process.js';
import type { Task, TaskEnd } from './tool-process.js';

/** The processes of a file. */
interface Processes {
  run(task: Task): Promise<TaskEnd>;
}

/** How long the check of a call’s arguments may take, milliseconds: a tool’s own conditions are part of it. */
const parseMs = 5_000;

/** What a tool’s process gave; whether it is of the declared shape was found there. */
class IsolatedOutput {
  constructor(readonly output: SentOutput) {}
}

/** The contract of a tool whose code is in processes of its own. */
export function contractOf(tool: ToolDescription, processes: Processes): ToolContract {
  const { type, description, shortDescription, category, inputSchema, effect, redaction, repeatable } = tool;
  const { requiresConnection, network } = tool;
  const hosts = typeof network === 'string' ? [] : network;
  const run = async (
    what: 'execute' | 'reconcile',
    args: JsonValue,
    { key, ...context }: ToolInvocationContext & { readonly key: string | null },
    given: ToolCapabilities,
  ): Promise<SentOutput> => {
    const { cancellation, clock } = given as Partial<Capabilities>;
    const call = new ServedCall(tool.capabilities, given, context.connectionId, hosts);
    const now = clock?.now() ?? 0;
    const sent = { args: JSON.stringify(args), context, now, key };
    const end = await processes.run({
      message: (n) => ({ do: what, n, ...sent }),
      onSaid: (message, send) => call.take(message, send),
      signal: cancellation?.signal ?? null,
      timeMs: null,
    });
    if (end.say === 'ended') return end.output;
    throw end.say === 'threw'
      ? receivedError(end.error)
      : new Error('The tool’s process sent an answer that was not asked for.');
  };
  const contract: ToolContract = {
    ...{
      type,
      description,
      shortDescription,
      category,
      inputSchema,
      effect,
      redaction,
      repeatable,
      requiresConnection,
    },
    // The signal says when to end the process, whether the tool asks for it or not.
    capabilities: [...new Set([...tool.capabilities, 'cancellation', ...(hosts.length > 0 ? ['network'] : [])])],
    ...(network === 'none' ? {} : { network }),
    parseInput: async (rawArgs) => {
      const args = JSON.stringify(rawArgs);
      const message = (n: number) => ({ do: 'parse', n, args }) as const;
      const end = await processes.run({ message, signal: null, timeMs: parseMs });
      if (end.say === 'parsed') return parseExactJson(end.args);
      if (end.say === 'refused') throw new ToolInputError(end.problems);
      throw end.say === 'threw' ? receivedError(end.error) : new Error('The arguments could not be checked.');
    },
    parseOutput: (raw) => {
      if (!(raw instanceof IsolatedOutput)) throw new TypeError('This is no output of the tool.');
      if (raw.output.kind === 'too large') throw new JsonTooLargeError('The value is larger than the limit.');
      if (raw.output.kind !== 'value')
        throw new TypeError(raw.output.why ?? 'The output does not have the declared shape.');
      return plainJson(raw.output.value, rawBytes);
    },
    execute: async (args, context, given) => {
      const { idempotency } = given as Partial<Capabilities>;
      try {
        return new IsolatedOutput(await run('execute', args, { ...context, key: idempotency?.key ?? null }, given));
      } catch (error) {
        if (!(error instanceof ProcessEndedError)) throw error;
        throw new ToolProcessEndedError('The tool’s process ended during the call.', { cause: error });
      }
    },
  };
  if (!tool.reconciles) return Object.freeze(contract);
  const reconcile = async (
    args: JsonValue,
    asked: ToolInvocationContext & { readonly key: string },
    given: ToolCapabilities,
  ): Promise<ReconcileAnswer> => {
    const output = await run('reconcile', args, asked, given);
    const answer = readReconciled(output.kind === 'value' ? output.value : null);
    if (answer.outcome !== 'happened') return answer;
    return { outcome: 'happened', result: new IsolatedOutput(answer.result as SentOutput) };
  };
  return Object.freeze({ ...contract, reconcile });
}
