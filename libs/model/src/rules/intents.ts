/** What a clause of a question asks for. */
type IntentName = 'reset' | 'change' | 'time' | 'analyse' | 'text' | 'lookup' | 'other';

/** How a clause of this intent is recognised, and what a tool for it looks like. */
export interface Intent {
  readonly name: IntentName;
  /** Tried on the clause without its polite beginning; `^` therefore means an order. */
  readonly recognised: RegExp;
  /** Words in a tool's name or description that speak for it: clearly, and weakly. */
  readonly clearly: RegExp;
  readonly weakly: RegExp;
  /** It changes something, so no tool for it is used for a mere question. */
  readonly acts: boolean;
  /** A call without any argument taken from the question would be a shot in the dark. */
  readonly needsArguments: boolean;
}

const nothing = /(?!)/;

/**
 * In this order: the first that recognises a clause has it. What changes something must be an order, not a word in
 * passing.
 */
export const intents: readonly Intent[] = [
  {
    name: 'reset',
    recognised: /^(?:reset|restart|clear|start (?:over|again)|begin again|go back to the (?:start|beginning))\b/i,
    clearly: /\b(?:reset\w*|restart\w*|clear\w*|initial)\b/i,
    weakly: /\bbeginning\b/i,
    acts: true,
    needsArguments: false,
  },
  {
    name: 'change',
    recognised:
      /^(?:add|record|note|remember|store|save|set|update|change|modify|connect|link|insert|create|remove|delete|replace)\b/i,
    clearly:
      /\b(?:updat\w*|add\w*|modif\w*|creat\w*|insert\w*|record|stor(?:e|es|ing)|sav\w+|set|edit|remov\w*|delet\w*)\b/i,
    weakly: /\b(?:chang\w*|entit\w+|relation\w*)\b/i,
    acts: true,
    needsArguments: true,
  },
  {
    name: 'time',
    recognised:
      /\bwhat(?:[’']s| is)? (?:the )?(?:current |exact )?(?:time|date|day)\b(?! (?:of|did|was|were|does|do))|\b(?:current|today[’']s) (?:time|date|day)\b/i,
    clearly: /\b(?:time|date|clock)\b/i,
    weakly: /\b(?:current|now|today)\b/i,
    acts: false,
    needsArguments: false,
  },
  {
    name: 'analyse',
    recognised: /\b(?:compar\w+|analy[sz]e\w*|analysis|rank\w*|average|median|statistics|correlat\w*)\b/i,
    clearly: /\b(?:analy[sz]\w*|compar\w*|statistic\w*|aggregat\w*|rank\w*)\b/i,
    weakly: /\b(?:comput\w*|calculat\w*|data)\b/i,
    acts: false,
    needsArguments: true,
  },
  {
    name: 'text',
    recognised: /^(?:write|summari[sz]e|explain|translate|generate|draft|compose|rephrase|describe)\b/i,
    clearly: /\b(?:text|completion|generat\w*|writ\w*|summar\w*|translat\w*)\b/i,
    weakly: /\b(?:language|prompt)\b/i,
    acts: false,
    needsArguments: true,
  },
  {
    name: 'lookup',
    recognised:
      /\b(?:which|what|who|whose|whom|where|when|how many|how much)\b|^(?:list|find|show|look (?:up|for)|search|query|get|fetch|name|tell|give|is|are|does|do|did|has|have|how)\b/i,
    clearly: /\b(?:quer(?:y|ies)|search\w*|look ?up|knowledge|retriev\w*|find\w*)\b/i,
    weakly: /\b(?:get|fetch\w*|read\w*|list\w*|show\w*|entit\w+|relation\w*)\b/i,
    acts: false,
    needsArguments: true,
  },
];

/** A clause that no rule recognises: only the words it shares with a tool count. */
export const otherIntent: Intent = {
  name: 'other',
  recognised: nothing,
  clearly: nothing,
  weakly: nothing,
  acts: false,
  needsArguments: true,
};

const politeBeginning =
  /^(?:(?:and|also|but|now|next|first|finally|afterwards|please|then|can you|could you|would you|will you|i (?:want|would like)(?: you)? to|you should|let us|let[’']s)[\s,]+)+/i;

/** The clause from the word on that matters. */
export function withoutPoliteness(clause: string): string {
  return clause.trim().replace(politeBeginning, '');
}

export function intentOf(clause: string): Intent | undefined {
  const text = withoutPoliteness(clause);
  return intents.find((intent) => intent.recognised.test(text));
}
