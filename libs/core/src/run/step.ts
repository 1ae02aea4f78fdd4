/**
 * Members are described in schemas/. In a history a step has no `resultHash` and no `cachedAt`: they are for the
 * audit.
 */
export type { AgentRun, AgentStep as Step, OtherModels, ParentCall } from '@sluice/records';
