import type { NativeSearchSettings } from '../settings/discovery-types.js';
import type { JsonObject } from '../json.js';
import type { ToolChoice } from '../rules/tool-choice.js';
import type { IncompleteAnswer } from '../run/incomplete.js';
import type { Step, StepContent } from '../run/step.js';
import type { Sampling } from '../settings/sampling.js';
import type { ModelMediaType } from '../settings/model-inputs.js';

/** A tool as the model sees it: exactly the offered ones, by id. */
export interface ModelTool {
  readonly id: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The schema that its calls are held to, where the model is sent another. */
  readonly fullSchema?: JsonObject;
}

/** What a provider's own search finds, and how it is asked for. */
export interface SearchedTools {
  readonly tools: readonly ModelTool[];
  readonly settings: NativeSearchSettings;
}

/** A past step, with the id under which the model knew the tool. */
export interface ModelStep extends Step {
  readonly toolId: string;
}

/** What an earlier run of the session was asked, and what it answered. */
export interface EarlierRun {
  readonly question: string;
  readonly answer: string;
}

/** Whose words a message of a client’s conversation is, by what the client says. */
export const conversationRoles = ['user', 'assistant', 'system'] as const;

/** A message of the conversation that a client keeps: its words, unchecked. */
interface SaidBefore {
  readonly role: string;
  readonly text: string;
}

export interface ModelRequest {
  readonly instructions: string;
  readonly question: string;
  /** What the client says was said before the question, the oldest first; absent where it says nothing. */
  readonly conversation?: readonly SaidBefore[];
  /** Images and files of the question, by name; absent where it has none. What the model is given, the options have. */
  readonly content?: readonly StepContent[];
  readonly state: string;
  /** In order; steps of one turn share their `iteration`. */
  readonly history: readonly ModelStep[];
  /** Earlier runs of the session, the oldest first; absent where the model is shown none. */
  readonly earlier?: readonly EarlierRun[];
  /** Empty means: answer without tools. */
  readonly tools: readonly ModelTool[];
  /** How the model is to write its turn, beside its settings; absent where the request says nothing. */
  readonly sampling?: Sampling;
  /** A JSON Schema that its answer has to fit; the instructions have it too. Absent where any text will do. */
  readonly answerSchema?: JsonObject;
  /**
   * Tools that it is sent without being shown them: its provider's own search finds them. Absent where there are
   * none.
   */
  readonly searched?: SearchedTools;
  /** What it may or must do with them; where there are none, it means nothing. */
  readonly toolChoice: ToolChoice;
  /**
   * The tools that a plan’s steps may use, where a plan is asked for; its tool’s description says them too. Absent
   * where none is.
   */
  readonly planning?: readonly ModelTool[];
  /** True where the last call is to be made again, with other arguments or in a simpler form. Absent for false. */
  readonly again?: boolean;
  /**
   * Where a review of a step’s result is asked for: of how good it is, or of whether a plan goes on with it; and its
   * confidence so far.
   */
  readonly review?: { readonly kind: 'judge' | 'override'; readonly confidence: number };
  /**
   * Ids of the tools whose calls of one turn run side by side; the instructions say so too. Absent where each waits
   * for the one before it.
   */
  readonly sideBySide?: readonly string[];
}

/** A call as the model wrote it: `arguments` is the raw text, valid JSON or not. */
export interface ModelCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly arguments: string;
  /**
   * What the provider wants back with the call in the turns after, as JSON text that only the model port reads:
   * signatures of thoughts, ids of items, and the model that they are of. Absent where it wants nothing.
   */
  readonly providerData?: string;
}

/** Bytes of a call’s provider data that are kept, and of all that a run’s history carries. */
export const largestProviderData = { call: 65_536, history: 131_072 } as const;

/**
 * Stands in the place of arguments that the turn's limit of tokens cut off. It is no JSON, so that no such call is
 * made.
 */
export const halfWritten = '[cut off by the limit of tokens]';

/** One turn: calls to make, or an answer. `calls` is empty exactly if `answer` is not null. */
export interface ModelTurn {
  readonly thought: string;
  readonly calls: readonly ModelCall[];
  readonly answer: string | null;
  /** Why the answer is not a whole one; absent where it is, and where there is none. */
  readonly incomplete?: IncompleteAnswer;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, what the provider had in its cache; absent where it read nothing from one. */
  readonly cachedInputTokens?: number;
  /** Of the input, what the provider put into its cache; absent where it put nothing there. */
  readonly cacheWriteTokens?: number;
  /**
   * What the provider sent beside this, such as its reasoning or its sources. For observability alone: no record and
   * no line holds a payload, and nothing is decided or counted by one. Absent where there was nothing beside.
   */
  readonly raw?: readonly RawPart[];
}

/** The tokens of a turn, by how they are counted. */
export type TurnTokens = Pick<ModelTurn, 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'cacheWriteTokens'>;

/** The tokens of both. What is absent counts as none. */
export function tokenSum(one: TurnTokens, other: TurnTokens): Required<TurnTokens> {
  const sum = (name: keyof TurnTokens): number => (one[name] ?? 0) + (other[name] ?? 0);
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
  };
}

/** A piece of a provider's turn that has no place in ModelTurn. */
export interface RawPart {
  /** A name from a closed list, so that it may be shown. */
  readonly kind: string;
  /** As it came. */
  readonly payload: unknown;
}

/**
 * What a model is given of content that its request names: the bytes, in base64; the text in a file; or a note that
 * says why it is given neither.
 */
export type GivenContent =
  | { readonly kind: 'media'; readonly mediaType: ModelMediaType; readonly data: string }
  | { readonly kind: 'text'; readonly text: string; readonly note?: string }
  | {
      readonly kind: 'note';
      readonly note: string;
      /** Where the model does not read such content, which the result itself may say. */
      readonly isUnread?: boolean;
    };

export interface ModelOptions {
  readonly signal: AbortSignal;
  /** By the hash of the content; absent for a request that names none. */
  readonly given?: ReadonlyMap<string, GivenContent>;
  /** Called with pieces of the text as they arrive. */
  readonly onText?: (piece: string) => void;
}

/**
 * A language model. Throws Fault('model_unreachable', retryable) for what may pass (network, 429, 5xx),
 * Fault('model_refused', not retryable) for what will not (bad key, bad request), and the signal's reason when aborted.
 */
export interface Model {
  /** What logs and metrics call it: `provider/name`. */
  readonly name: string;
  turn(request: ModelRequest, options: ModelOptions): Promise<ModelTurn>;
}

/**
 * Vectors of texts, of which the closer ones mean the more alike; each has length 1. Throws as a Model does, and the
 * signal’s reason when aborted.
 */
export interface Embedder {
  /** What logs call it: `provider/name`. */
  readonly name: string;
  /** One vector a text, in order. */
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly Float32Array[]>;
}
