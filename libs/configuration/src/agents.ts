import { configurationKeys } from './keys.js';
import type { Section } from './section.js';

/** An agent’s instructions when the file says nothing. */
const defaultInstructions = [
  'You answer the question by using the tools you are offered, and only those; which tools there are can change after each call.',
  'Call a tool when you need what it gives, read its result, and go on.',
  'When you know the answer, or when no tool can help, answer in plain language and say what you could not find out.',
].join(' ');

/** `agents`: the instructions of the one agent there is. */
export function readInstructions(section: Section): string {
  section.closed(configurationKeys.agents);
  const agent = section.section('default').closed(configurationKeys['agents.default']);
  return (
    agent.text('instructions', 'the instructions as a text, or leave the key out for the default') ??
    defaultInstructions
  );
}
