/** How runs come to their answers. */
export const strategyNames = ['react', 'plan', 'confidence', 'supervisor', 'auto'] as const;
export type StrategyName = (typeof strategyNames)[number];

/** How the plans of a run are taken. */
export interface PlanSettings {
  /** Whether a plan needs an approval before its first step runs. */
  readonly approve: boolean;
  /** Plans of one run, those counted that were refused or failed. */
  readonly maxPlans: number;
  readonly maxSteps: number;
  /** What steps are held to in runs of the strategy `confidence`; absent for the defaults. */
  readonly confidence?: ConfidenceSettings;
}

/** What a run of the strategy `confidence` holds the steps of its plans to, where these say nothing else. */
export interface ConfidenceSettings {
  /** From 0 to 1: a result below it is not good enough. */
  readonly threshold: number;
  /** Further attempts at a step, with other arguments. */
  readonly retries: number;
  /** Time limit of one attempt, beside the tool’s; null for the tool’s alone. */
  readonly timeoutMs: number | null;
  /** Whether a simpler call is made once the retries are used up. */
  readonly simplify: boolean;
  readonly judge: 'formula' | 'model';
  readonly override: 'model' | 'person' | 'none';
  /** Tokens of the run’s history that the model is shown, at most. */
  readonly contextTokens: number;
}

/** How the runs of an agent tool go. The time of a run is the tool's `timeoutMs`. */
export interface AgentSettings {
  /** The groups that its runs ask for; `*` for all. */
  readonly groups: readonly string[];
  /** The state that they begin in; null as for any request. */
  readonly state: string | null;
  /** Null: as many as the limits give any run. */
  readonly maxIterations: number | null;
  /** Tokens read and written together, and millionths of a US dollar, of one run; null for no limit. */
  readonly tokens: number | null;
  readonly microUsd: number | null;
  /** Null: the instructions of every agent. */
  readonly instructions: string | null;
  /** UTF-8 bytes of an answer as JSON text. */
  readonly answerBytes: number;
  /** Absent for `react`. */
  readonly strategy?: StrategyName;
  /** The name of the configuration’s model that it asks first; absent for the first of the list. */
  readonly model?: string;
  /** Which agent of the configuration its runs ask; absent for the default one. */
  readonly agent?: string;
}

/** Whether a supervisor’s agents go on where one beside them fails. */
export const onErrorChoices = ['collect', 'stop'] as const;
export interface SupervisorSettings {
  readonly onError: (typeof onErrorChoices)[number];
}

/** Which earlier runs of a session a model is shown. */
export interface MemorySettings {
  /** Whole answers of the last runs, or the first sentences of more of them. */
  readonly kind: 'last' | 'summary';
  readonly runs: number;
  /** About how many tokens they may take together. */
  readonly tokens: number;
}
