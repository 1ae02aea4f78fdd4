/**
 * Members are described in schemas/. In a history a step has no `resultHash` and no `cachedAt`, which are for those who
 * read the step itself, and of its `content` the images, sounds and files.
 */
export type { AgentRun, AgentStep as Step, OtherModels, ParentCall, StepContent } from '@sluice/records';
