/**
 * Members are described in schemas/. In a history a step has no `resultHash` no `cachedAt` and no `content`: these are
 * for those who read the step itself.
 */
export type { AgentRun, AgentStep as Step, OtherModels, ParentCall, StepContent } from '@sluice/records';
