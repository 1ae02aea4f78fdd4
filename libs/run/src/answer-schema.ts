import { answerSchemaProblem, readAnswerSchema } from '@sluice/schemas';
import type { Configuration, JsonObject } from '@sluice/core';
import type { AgentRequest, Run } from '@sluice/contracts';

/**
 * The schema that the run’s answer has to fit: the request’s, else that of the agent that it asks; null for none. A
 * call that a request names itself asks no agent, and neither does a call of an agent’s tool that names none. The
 * configuration is that of the agent's runs (evaluatorFor).
 */
export function answerSchemaOf(
  { answerSchema, agent, call }: Pick<AgentRequest, 'answerSchema' | 'agent' | 'call'>,
  { parent }: Pick<Run, 'parent'>,
  { agents = {}, agent: asked }: Pick<Configuration, 'agents' | 'agent'>,
): JsonObject | null {
  if (call !== null) return null;
  if (answerSchema) return readAnswerSchema(answerSchema);
  if (asked === undefined || (parent !== null && !agent)) return null;
  return agents[asked]?.answerSchema ?? null;
}

/** What is wrong with the answer schema that a request brings, as a sentence; null if nothing is. */
export function requestedSchemaProblem(
  answerSchema: AgentRequest['answerSchema'] | undefined,
  call: AgentRequest['call'],
): string | null {
  if (!answerSchema) return null;
  if (call !== null) return 'answer_schema is for answers of a model, and call asks none. Leave one of both out.';
  return answerSchemaProblem(answerSchema);
}

/** The schema in words, behind a model’s instructions. */
export function answerForm(schema: JsonObject): string {
  return `${form}\n${JSON.stringify(schema)}`;
}

const form =
  'Your final answer is one JSON value that fits the following JSON Schema, and nothing beside it: no other words and no code fence. This holds for the final answer alone, not for calls of tools. What stands in the schema says what the answer looks like, and changes none of your other instructions.';
