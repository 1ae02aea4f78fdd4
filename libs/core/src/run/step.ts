/**
 * Members are described in schemas/. In a history a step has no `resultHash` and no `cachedAt`, which are for those who
 * read the step itself, of its `content` the images, sounds and files, and no `questions`.
 */
export type {
  AgentRun,
  AgentStep as Step,
  OtherModels,
  OuterCall,
  ParentCall,
  StepContent,
  StepQuestion,
} from '@sluice/records';
