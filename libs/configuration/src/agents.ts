import { defaultAgent, quote } from '@sluice/core';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';

/** An agent’s instructions when the file says nothing. */
const defaultInstructions = [
  'You answer the question by using the tools you are offered, and only those; which tools there are can change after each call.',
  'Call a tool when you need what it gives, read its result, and go on.',
  'When you know the answer, or when no tool can help, answer in plain language and say what you could not find out.',
].join(' ');

/** What an agent may be called: a name of a model in the doors, and of a metric’s series. */
const nameForm = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/** Entries, beside the default one. */
const mostAgents = 100;

/** The entries under `agents`. */
export interface AgentEntries {
  /** `agents.default`: what all agents have that say nothing else. */
  readonly common: Section;
  /** The others by name, in one order whatever is written. */
  readonly named: readonly (readonly [string, Section])[];
}

export function agentEntries(agents: Section): AgentEntries {
  const keys = configurationKeys['agents.default'];
  const names = agents.keys().filter((name) => name !== defaultAgent);
  if (names.length > mostAgents)
    agents.problem(agents.path, `${String(names.length)} agents`, `at most ${String(mostAgents)}`);
  const named = names.toSorted().map((name) => {
    if (!nameForm.test(name))
      agents.problem(agents.at(name), `the name ${quote(name)}`, '1 to 64 letters, digits, `_` and `-`');
    return [name, agents.section(name).closed(keys)] as const;
  });
  return { common: agents.section(defaultAgent).closed(keys), named };
}

export function readInstructions(agent: Section): string | null {
  return agent.text('instructions', 'the instructions as a text, or leave the key out for the default');
}

export function instructionsOrDefault(agent: Section): string {
  return readInstructions(agent) ?? defaultInstructions;
}
