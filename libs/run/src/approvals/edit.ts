import {
  cut,
  isDeeperThan,
  isJsonObject,
  parseExactJson,
  redactArguments,
  utf8Length,
  withOwnSecrets,
} from '@sluice/core';
import type { Configuration, ConfiguredTool, JsonValue, Step } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { ApprovalDecided } from '@sluice/contracts';

/** How much of edited arguments a step shows, in UTF-16 units: its record has no more room to spare. */
const shownArguments = 2_000;
/** Levels of nesting that edited arguments may have. */
const deepest = 64;

/** The arguments that an approver gave a call, as it wrote them. */
export interface Edit {
  readonly arguments: string;
  readonly by: string;
}

/** A call with the arguments that an approver gave it. */
interface EditedCall {
  /** With the secrets that the approver did not see. */
  readonly args: JsonValue;
  readonly bytes: number;
  /** As its step tells of it. */
  readonly shown: NonNullable<Step['edited']>;
}

/**
 * Whether the arguments that a decision gives the call, if any, can be taken: the JSON of an object that is what its
 * hash says, on an approval. A plan is not edited: its run goes by the text that the model wrote.
 */
export function isEditSound(
  {
    decision,
    editedArguments: text,
    editedHash: hash,
  }: Pick<ApprovalDecided, 'decision' | 'editedArguments' | 'editedHash'>,
  toolId: string | undefined,
  { tools }: Pick<Configuration, 'tools'>,
): boolean {
  if (text === null) return hash === null;
  if (decision !== 'approve' || hash !== sha256(text)) return false;
  if (tools.some(({ id, plan }) => id === toolId && plan !== undefined)) return false;
  const written = parsed(text);
  return written !== null && isJsonObject(written) && !isDeeperThan(written, deepest);
}

/** `own` are the call’s own arguments. */
export function editedCall(
  { arguments: text, by }: Edit,
  own: JsonValue,
  tool: Pick<ConfiguredTool, 'spec'> | undefined,
): EditedCall {
  const schema = tool?.spec?.inputSchema;
  const written = parsed(text) ?? {};
  const args = withOwnSecrets(written, own, schema);
  const shown = cut(JSON.stringify(redactArguments(written, schema)), shownArguments);
  return {
    args,
    bytes: utf8Length(JSON.stringify(args)),
    shown: { arguments: shown, argumentsHash: sha256(text), editedBy: by },
  };
}

function parsed(text: string): JsonValue | null {
  try {
    return parseExactJson(text);
  } catch {
    return null;
  }
}
