import { isJsonObject, takesSampling } from '@sluice/core';
import type { JsonObject, ModelSettings, Sampling } from '@sluice/core';
import type { DecodedRequest } from '@sluice/wires';

type Body = Readonly<Record<string, unknown>>;

/** What a request asks of the model's writing, as its record has it, and the members of the body that say it. */
interface AskedSampling {
  readonly sampling: JsonObject | null;
  readonly members: readonly string[];
}

/** What of the client's wishes the model takes that a run asks first; the others are named to the client. */
export function samplingIn(body: Body, decoded: DecodedRequest, model: ModelSettings): AskedSampling {
  const { maxOutputTokens, temperature, topP, stopSequences } = decoded;
  const { seed, reasoning_effort: effort, reasoning } = body;
  const inside = isJsonObject(reasoning) ? reasoning['effort'] : undefined;
  const wishes = [
    wish('temperature', 'temperature', temperature, ['temperature']),
    wish('topP', 'top_p', topP, ['top_p']),
    wish('maxOutputTokens', 'max_output_tokens', maxOutputTokens, [
      ...['max_tokens', 'max_completion_tokens', 'max_output_tokens'],
    ]),
    wish('stop', 'stop', stopSequences.length === 0 ? null : stopSequences, ['stop', 'stop_sequences']),
    wish('seed', 'seed', seed, ['seed']),
    wish('reasoningEffort', 'reasoning_effort', effort ?? inside, ['reasoning_effort', 'reasoning.effort']),
  ];
  const taken = wishes.filter(({ name, value }) => value !== null && value !== undefined && takesSampling(model, name));
  const members = taken.flatMap((one) => one.members);
  if (taken.length === 0) return { sampling: null, members };
  return { sampling: Object.fromEntries(taken.map(({ field, value }) => [field, value])) as JsonObject, members };
}

function wish(name: keyof Sampling, field: string, value: unknown, members: readonly string[]) {
  return { name, field, value, members };
}
