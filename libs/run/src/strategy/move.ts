import type { ConfiguredTool, ModelTurn, ToolChoice } from '@sluice/core';
import type { StrategyDecision } from '@sluice/contracts';

/**
 * What comes next in a run: the model is asked, as `react` asks it or for one thing alone; or a call is made as it
 * was planned.
 */
export type Move =
  | { readonly kind: 'react' }
  /** As `react`, with what a supervisor’s model has to know. */
  | { readonly kind: 'supervise'; readonly decision: StrategyDecision }
  | {
      readonly kind: 'ask';
      readonly decision: StrategyDecision;
      /** The tools that the model is shown, of which it calls one; where there are none, it answers. */
      readonly tools: readonly ConfiguredTool[];
      readonly choice: ToolChoice;
    }
  | { readonly kind: 'call'; readonly decision: StrategyDecision; readonly turn: ModelTurn };
