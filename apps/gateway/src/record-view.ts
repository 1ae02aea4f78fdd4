import type { Toolset } from '@sluice/contracts';
import { withTools } from '@sluice/run';
import type { Configurations } from '@sluice/run';
import { asWritten, shownArguments } from '@sluice/core';
import type { ShownArguments } from '@sluice/core';

/** The tools that a turn was offered, by id and key. */
type OfferedOf = (toolset: Toolset) => Toolset['tools'];

/** What a run’s records say to callers with the help of the configurations that they name. */
export interface RecordView {
  readonly shown: ShownArguments;
  readonly offered: OfferedOf;
  /** The id and the key of a tool by either of them; what is given where there is none. */
  readonly idOf: (idOrKey: string) => string;
  readonly keyOf: (idOrKey: string) => string;
}

/** Of records alone. */
export const ofRecords: RecordView = {
  shown: asWritten,
  offered: ({ tools }) => tools,
  idOf: (name) => name,
  keyOf: (name) => name,
};

/** A configuration that is not here yet leaves what the record names: no run’s stream waits for it. */
export function recordView(configurations: Pick<Configurations, 'current' | 'versionOrNull'>): RecordView {
  const { evaluator } = configurations.current();
  return {
    shown: shownArguments(configurations.current().configuration.tools),
    offered: (toolset) => {
      if (toolset.list === null) return toolset.tools;
      const loaded = configurations.versionOrNull(toolset.configVersion);
      return loaded === null ? toolset.tools : withTools(toolset, loaded.evaluator).tools;
    },
    idOf: (idOrKey) => evaluator.tool(idOrKey)?.id ?? idOrKey,
    keyOf: (idOrKey) => evaluator.tool(idOrKey)?.key ?? idOrKey,
  };
}
