import { type Digest, type JsonValue, canonicalJson } from '../json.js';
import type { ModelRequest } from '../ports/model.js';

type Asked = Pick<ModelRequest, 'instructions' | 'question' | 'history'>;

/**
 * Names what a model was asked, by its name (`provider/name`): equal for equal questions, whatever the order of keys
 * in the tools' schemas, and another where anything that is sent differs. Images and files count by their hashes, the
 * tools with their full schemas; no tools and an empty list are the same, and so are no choice and auto, which is what
 * every prompt had before there was a choice.
 */
export function promptHash(
  {
    instructions,
    question,
    conversation = [],
    content = [],
    history,
    tools = [],
    searched,
    toolChoice,
    earlier = [],
    answerSchema,
    sampling,
  }: Asked & Partial<ModelRequest>,
  model: string,
  digest: Digest,
): string {
  const sent = {
    model,
    instructions,
    question,
    ...(earlier.length === 0 ? {} : { earlier: earlier.map((one) => [one.question, one.answer]) }),
    ...(conversation.length === 0 ? {} : { conversation: conversation.map(({ role, text }) => [role, text]) }),
    ...(content.length === 0 ? {} : { content: content.map(({ hash }) => hash) }),
    history: history.map(({ toolId, thought, arguments: args, outcome, observation, providerData, content: of }) => [
      ...[toolId, thought, args, outcome, observation],
      ...(providerData === null ? [] : [providerData]),
      ...(of.length === 0 ? [] : [of.map(({ hash }) => hash)]),
    ]),
    tools: tools.map(({ id, description, inputSchema, fullSchema }) =>
      fullSchema === undefined
        ? { id, description, inputSchema }
        : { id, description, inputSchema: fullSchema, sentSchema: inputSchema },
    ),
    ...(searched === undefined
      ? {}
      : { searched: searched.tools.map(({ id, description, inputSchema }) => ({ id, description, inputSchema })) }),
    ...(toolChoice === undefined || toolChoice.type === 'auto' ? {} : { toolChoice }),
    ...(answerSchema === undefined ? {} : { answerSchema }),
    ...(sampling === undefined ? {} : { sampling: { ...sampling } }),
  };
  return digest(canonicalJson(sent as JsonValue));
}
