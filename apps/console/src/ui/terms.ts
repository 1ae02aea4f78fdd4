/** The words of the field, each explained in a sentence or two. */
export const terms = {
  run: { title: 'Run', text: 'One AgentRequest, from its question to its answer or error.' },
  session: { title: 'Session', text: 'Runs that belong together. Records of one session are handled in order.' },
  iteration: {
    title: 'Iteration',
    text: 'The filter decides the toolset, the model chooses among it, the executor runs what was chosen. The next iteration begins with the new state.',
  },
  state: {
    title: 'State',
    text: 'Where a run is in its workflow. Tools are available in some states only, and a call can lead to another state.',
  },
  group: {
    title: 'Group',
    text: 'A named set of tools. A request asks for groups, and gets those that its caller may use.',
  },
  toolset: { title: 'Toolset', text: 'The tools that the model may use in this iteration, and no others.' },
  verdict: {
    title: 'Verdict',
    text: 'What the filter decided about a tool in an iteration: offered, or hidden, with every reason.',
  },
  configurationVersion: {
    title: 'Configuration version',
    text: 'The hash of a compiled configuration. Every decision names the version it was made under.',
  },
  effect: {
    title: 'Effect',
    text: 'What a tool does to the world: read_only changes nothing, state_change changes something that Sluice can undo or repeat, external_side_effect acts on other systems.',
  },
  approval: {
    title: 'Approval',
    text: 'A person’s decision about one exact call. It holds for this call with these arguments, once.',
  },
  deadLetter: {
    title: 'Dead letter',
    text: 'A record that could not be processed. Its run ended with an error; a redrive is another attempt of the same run.',
  },
  lag: { title: 'Lag', text: 'Records on the log that this role has not handled yet.' },
  whatIf: {
    title: 'What-if',
    text: 'Recorded decisions made again under another configuration. Nothing is run and nothing is changed.',
  },
  heldBack: {
    title: 'Held-back change',
    text: 'A server changed what it says of a tool. The text that was accepted stays in force until an operator accepts the new one.',
  },
  deadEnd: { title: 'Dead end', text: 'A state in which no tool is available and that no tool leaves.' },
} as const;

export type TermName = keyof typeof terms;
