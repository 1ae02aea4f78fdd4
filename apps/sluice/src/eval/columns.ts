import { readFileSync } from 'node:fs';
import { isSeq, parseDocument } from 'yaml';
import { modelName, modelsOf } from '@sluice/core';
import type { Configuration, ModelSettings, StrategyName } from '@sluice/core';

/** A strategy and a model under which every case is run. */
export interface Column {
  readonly strategy: StrategyName;
  /** The model’s place in the configuration’s list. */
  readonly place: number;
  readonly settings: ModelSettings;
  readonly model: string;
}

/** The strategies and models that are compared; without any, the configuration’s own strategy and its first model. */
export function columnsOf(
  configuration: Configuration,
  wanted: {
    readonly strategies?: readonly StrategyName[] | undefined;
    readonly models?: readonly string[] | undefined;
  },
): readonly Column[] {
  const models = modelsOf(configuration);
  const known = models.map(modelName);
  const places = wanted.models?.map((name) => placeOf(name, known)) ?? [0];
  const strategies = wanted.strategies ?? [configuration.strategy?.byDefault ?? 'react'];
  return strategies.flatMap((strategy) =>
    places.map((place) => {
      const settings = models[place] as ModelSettings;
      return { strategy, place, settings, model: known[place] ?? '' };
    }),
  );
}

function placeOf(name: string, known: readonly string[]): number {
  const place = known.indexOf(name);
  if (place >= 0) return place;
  throw new Error(`There is no model ${name} in the configuration. It has: ${known.join(', ')}.`);
}

/** The text of the configuration with this strategy and this model alone; all else is as the file has it. */
export function configurationFor(file: string, { strategy, place }: Column): string {
  const document = parseDocument(readFileSync(file, 'utf8'));
  document.setIn(['agents', 'default', 'strategy'], strategy);
  const models = document.get('model', true);
  if (isSeq(models)) document.set('model', models.get(place, true));
  return document.toString();
}
