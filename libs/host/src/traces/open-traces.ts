import type { ModelSettings } from '@sluice/core';
import type { Environment } from '../environment.js';
import type { Log } from '../log.js';
import { noTraces } from './traces.js';
import type { Traces } from './traces.js';

/** Where the environment sends spans: nowhere, unless it names an OTLP endpoint. */
export async function openTraces(
  environment: Environment,
  model: () => ModelSettings | null,
  log: Log,
): Promise<Traces> {
  const { traces = null } = environment;
  if (traces === null) return noTraces;
  const { openOtlp } = await import('./open-otlp.js');
  return openOtlp(traces, environment, model, log);
}
