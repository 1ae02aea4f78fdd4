import type { Sampling } from '@sluice/records';
import { modelProviderEntry } from './model-providers.js';
import type { ModelSettings } from './model-types.js';

export type { Sampling };

/** How much models of OpenAI's wires think, from the least on. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** What a request may ask of its models' writing. */
export const samplingLimits = { temperature: 2, topP: 1, tokens: 1_000_000, stops: 4, stopLength: 200 } as const;

const settingNames = {
  temperature: 'temperature',
  topP: 'top_p',
  stop: 'stop',
  seed: 'seed',
  reasoningEffort: 'reasoning_effort',
} as const;

/** Whether the model's API has a word for it that this model takes beside its own settings. */
export function takesSampling({ provider, thinkingTokens }: ModelSettings, name: keyof Sampling): boolean {
  const { settings, leastThinking } = modelProviderEntry(provider);
  // A model that thinks within its limit of tokens takes neither another limit nor another temperature.
  const isThinking = thinkingTokens !== undefined && leastThinking !== undefined;
  if (name === 'maxOutputTokens') return provider !== 'rules' && !isThinking;
  if (isThinking && (name === 'temperature' || name === 'topP')) return false;
  return settings.includes(settingNames[name]);
}

/** The settings of a model as a request asks for its turns: where these bound what they say, the lower counts. */
export function sampledSettings(settings: ModelSettings, sampling: Sampling | undefined): ModelSettings {
  if (sampling === undefined) return settings;
  const taken = <K extends keyof Sampling>(name: K): Sampling[K] | null =>
    takesSampling(settings, name) ? sampling[name] : null;
  const [temperature, topP, seed] = [taken('temperature'), taken('topP'), taken('seed')];
  const effort = lowerEffort(settings.reasoningEffort, taken('reasoningEffort'));
  const stop = taken('stop') ?? [];
  return {
    ...settings,
    maxOutputTokens: Math.min(settings.maxOutputTokens, taken('maxOutputTokens') ?? Infinity),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { topP }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(seed === null ? {} : { seed }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
  };
}

function lowerEffort(own: string | undefined, asked: string | null): string | undefined {
  if (own === undefined || asked === null) return asked ?? own;
  const efforts: readonly string[] = reasoningEfforts;
  return efforts.indexOf(asked) < efforts.indexOf(own) ? asked : own;
}

/** What is wrong with what a request asks, as a sentence that says what to write; null if nothing is. */
export function samplingProblem(sampling: Sampling | null | undefined): string | null {
  if (sampling === null || sampling === undefined) return null;
  const { temperature, topP, maxOutputTokens, stop, seed, reasoningEffort } = sampling;
  const { temperature: hottest, topP: mostP, tokens, stops, stopLength } = samplingLimits;
  const isWithin = (value: number | null, least: number, most: number): boolean =>
    value === null || (value >= least && value <= most);
  if (!isWithin(temperature, 0, hottest)) return `sampling.temperature must be a number from 0 to ${hottest}.`;
  if (!isWithin(topP, 0, mostP)) return `sampling.top_p must be a number from 0 to ${mostP}.`;
  if (!isWithin(maxOutputTokens, 1, tokens)) return `sampling.max_output_tokens must be from 1 to ${tokens}.`;
  if (stop.length > stops || stop.some((text) => text === '' || text.length > stopLength))
    return `sampling.stop may have ${stops} texts of 1 to ${stopLength} characters.`;
  if (!isWithin(seed, -2_147_483_648, 2_147_483_647)) return 'sampling.seed must be a whole number of 32 bits.';
  if (reasoningEffort !== null && !(reasoningEfforts as readonly string[]).includes(reasoningEffort))
    return `sampling.reasoning_effort is not known: write ${reasoningEfforts.join(', ')}.`;
  return null;
}
