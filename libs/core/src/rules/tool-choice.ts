import { cut } from '../well-formed.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';

/** What a model may, or must, do with the tools it is shown in a turn; `id` is one of them. */
export type ToolChoice =
  { readonly type: 'auto' | 'none' | 'required' } | { readonly type: 'tool'; readonly id: string };

/**
 * The choice of a turn as its records have it: null for auto, else `none`, `required` or a tool’s id, which is never
 * one of these words.
 */
export function toolChoiceOf(recorded: string | null): ToolChoice {
  switch (recorded) {
    case null:
      return { type: 'auto' };
    case 'none':
    case 'required':
      return { type: recorded };
    default:
      return { type: 'tool', id: recorded };
  }
}

/**
 * What a request’s tool_choice comes to in an iteration, as the records have it; or why the request cannot be served,
 * as a sentence.
 */
type ChoiceVerdict =
  { readonly ok: true; readonly choice: string | null } | { readonly ok: false; readonly message: string };

/**
 * `none` holds for the whole run. `required` and a named tool hold for its first iteration alone, else a run could
 * never come to its answer. `asked` is as in the request: absent, null or empty means auto; a tool is named by its id
 * or its key. What is not offered is refused in the same words whether there is such a tool or not, so that no caller
 * learns of hidden ones.
 */
export function chooseTools(
  asked: string | null,
  iteration: number,
  offered: readonly Pick<ConfiguredTool, 'id' | 'key'>[],
): ChoiceVerdict {
  if (!asked || asked === 'auto') return { ok: true, choice: null };
  if (asked === 'none') return { ok: true, choice: 'none' };
  if (iteration > 1) return { ok: true, choice: null };
  if (asked === 'required') return offered.length > 0 ? { ok: true, choice: 'required' } : noneToCall();
  const tool = offered.find(({ id }) => id === asked) ?? offered.find(({ key }) => key === asked);
  return tool === undefined ? notOffered(asked, offered) : { ok: true, choice: tool.id };
}

/**
 * Whether a turn with these calls is one that the choice asks for. A call under `none` is not judged here: the
 * executor refuses it.
 */
export function isAsChosen(choice: ToolChoice, calls: readonly { readonly tool: string }[]): boolean {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return true;
    case 'required':
      return calls.length > 0;
    case 'tool':
      return calls.some(({ tool }) => tool === choice.id);
  }
}

function noneToCall(): ChoiceVerdict {
  const message =
    'tool_choice is `required`, but this request is offered no tool. Ask for groups and a state that have tools, or leave tool_choice out.';
  return { ok: false, message };
}

/** Of a name and of a list, at most. */
const shownCharacters = 128;
const shownTools = 50;

function notOffered(asked: string, offered: readonly Pick<ConfiguredTool, 'id'>[]): ChoiceVerdict {
  const ids = offered.slice(0, shownTools).map(({ id }) => id);
  const instead = ids.length === 0 ? 'It is offered no tool.' : `Offered are: ${ids.join(', ')}.`;
  const name = cut(asked, shownCharacters);
  const message = `tool_choice names \`${name}\`, which is no tool that this request is offered. Write \`auto\`, \`none\`, \`required\`, or the key or id of an offered tool. ${instead}`;
  return { ok: false, message };
}
