import { approvalAsks, cut, isJsonText, parseExactJson, shownArguments } from '@sluice/core';
import type { ApprovalAsk, Configuration, ConfiguredTool, JsonObject, JsonValue } from '@sluice/core';
import type { AgentStep, ApprovalRequested, ToolCall } from '@sluice/contracts';

/** How much of a result is shown, in UTF-16 units. */
const shownResult = 1_000;
/** Steps before a call that are shown, the latest. */
const mostSteps = 50;

/** A step as who decides reads it. */
export interface ShownStep {
  /** 0 for a step that the request brought along. */
  readonly iteration: number;
  readonly tool: string;
  readonly outcome: string;
  readonly reason: string | null;
  /** Null where the reader may not see them; without what their schema calls secret. */
  readonly arguments: string | null;
  /** The beginning of the result, or the sentence of the error; null where the reader may not see it. */
  readonly result: string | null;
  /** The rule that refused it; null where none did, and in a history. */
  readonly rule: string | null;
  /** What an approver changed its arguments to; null where none did, and where the reader may not see it. */
  readonly edited_arguments: string | null;
  /** Who changed them. */
  readonly edited_by: string | null;
}

type Judge = Pick<Configuration, 'tools' | 'policy'>;

/** Whether the reader may see what calls of a tool were given and gave; undefined for a tool that is not known. */
export type MayRead = (tool: ConfiguredTool | undefined) => Promise<boolean>;

/** A call that was asked about, as who decides sees it: what was asked, in what, and what came before. */
interface ApprovalView {
  /** The run’s question; null where the parked turn is no longer on the log. */
  readonly question: string | null;
  readonly tool: {
    readonly key: string;
    readonly description: string | null;
    /** The JSON Schema of the arguments. */
    readonly inputSchema: JsonObject | null;
  };
  /** What the call is given, laid out. */
  readonly arguments: JsonValue;
  /** What asks for the approval; null where that is not known any more. */
  readonly rule: Pick<ApprovalAsk, 'rule' | 'message'> | null;
  readonly stepsBefore: readonly ShownStep[];
}

/** `judges` are the configurations that asked, the granting one first, as far as they can be had. */
export async function approvalView(
  requested: ApprovalRequested,
  turn: Pick<ToolCall, 'request'> | null,
  judges: readonly Judge[],
  mayRead: MayRead,
): Promise<ApprovalView> {
  const found = judges.flatMap(({ tools, policy }) =>
    tools.filter(({ id }) => id === requested.tool).map((tool) => ({ tool, asks: approvalAsks(tool, policy) })),
  );
  const before = [...(turn?.request.history ?? []), ...requested.steps].slice(-mostSteps);
  const tool = found[0]?.tool;
  return {
    question: turn?.request.question ?? null,
    tool: {
      key: tool?.key ?? requested.tool,
      description: tool?.description ?? null,
      inputSchema: tool?.spec?.inputSchema ?? null,
    },
    arguments: argumentsOf(requested),
    rule: ruleOf(
      requested,
      found.flatMap(({ asks }) => asks),
    ),
    stepsBefore: await shownSteps(before, judges, mayRead),
  };
}

/** Steps as the reader may see them. */
export async function shownSteps(
  steps: readonly AgentStep[],
  judges: readonly Judge[],
  mayRead: MayRead,
): Promise<readonly ShownStep[]> {
  const tools = judges.flatMap(({ tools: own }) => own);
  // What several configurations call secret, any of them hides.
  const shown = judges.map(({ tools: own }) => shownArguments(own));
  const readable = new Map<string, Promise<boolean>>();
  const isReadable = (action: string): Promise<boolean> => {
    const known = readable.get(action) ?? mayRead(tools.find(({ key, id }) => key === action || id === action));
    readable.set(action, known);
    return known;
  };
  return Promise.all(
    steps.map(async ({ iteration, action, outcome, reason, rule, edited, arguments: written, observation }) => {
      const may = await isReadable(action);
      const given = shown.reduce((text, hide) => hide(action, text), written);
      return {
        ...{ iteration, tool: action, outcome, reason },
        arguments: may ? given : null,
        result: may ? cut(observation, shownResult) : null,
        rule,
        edited_arguments: may ? (edited?.arguments ?? null) : null,
        edited_by: edited?.editedBy ?? null,
      };
    }),
  );
}

/** What the record says, else what the configurations say of the tool. */
function ruleOf(
  { rules, askedBecause: message }: ApprovalRequested,
  asks: readonly ApprovalAsk[],
): ApprovalView['rule'] {
  const [ask] = asks;
  if (rules.length > 0) return { rule: 'rule', message };
  if (ask !== undefined) return { rule: ask.rule, message: message === '' ? ask.message : message };
  return message === '' ? null : { rule: 'effect', message };
}

function argumentsOf({ arguments: text }: ApprovalRequested): JsonValue {
  return isJsonText(text) ? parseExactJson(text) : text;
}
