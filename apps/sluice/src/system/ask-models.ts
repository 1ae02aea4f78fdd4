import { modelName, modelsOf } from '@sluice/core';
import type { Configuration, ModelRequest, ModelSettings } from '@sluice/core';
import { Models } from '@sluice/model';

/** A model’s answer to one short question, or why there is none. */
interface ModelCheck {
  readonly name: string;
  readonly problem: string | null;
  readonly ms: number;
}

const question: ModelRequest = {
  instructions: 'Answer with one word.',
  question: 'Say ok.',
  state: 'undefined',
  history: [],
  tools: [],
  toolChoice: { type: 'none' },
};

/**
 * Asks each model of the configuration once, as the agent would, without tools. Nothing is asked again: what fails is
 * said.
 */
export async function askModels(
  configuration: Pick<Configuration, 'model' | 'fallbacks'>,
  secret: (variable: string) => string | undefined,
  mostMs: number,
): Promise<readonly ModelCheck[]> {
  const source = new Models(secret);
  return Promise.all(modelsOf(configuration).map((settings) => askModel(settings, source, mostMs)));
}

/** The models that could not be asked with what is set here, such as one whose key is missing. Asks none. */
export async function unusableModels(
  configuration: Pick<Configuration, 'model' | 'fallbacks'>,
  secret: (variable: string) => string | undefined,
): Promise<readonly Pick<ModelCheck, 'name' | 'problem'>[]> {
  const source = new Models(secret);
  const checks = modelsOf(configuration).map(async (settings) => {
    const problem = await source.get(settings).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { name: modelName(settings), problem };
  });
  return (await Promise.all(checks)).filter(({ problem }) => problem !== null);
}

async function askModel(settings: ModelSettings, source: Models, mostMs: number): Promise<ModelCheck> {
  const name = modelName(settings);
  const begun = performance.now();
  const checked = (problem: string | null): ModelCheck => ({
    name,
    problem,
    ms: Math.round(performance.now() - begun),
  });
  const patience = AbortSignal.timeout(mostMs);
  try {
    const model = await source.get(settings);
    await model.turn(question, { signal: patience, onText: () => undefined });
    return checked(null);
  } catch (error) {
    if (patience.aborted) return checked(`it did not answer within ${mostMs / 1_000} s`);
    return checked(error instanceof Error ? error.message : String(error));
  }
}
