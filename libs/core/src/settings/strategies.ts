/** Whether runs of the strategy make their calls by a plan. */
export function isPlanned(name: string): boolean {
  return name === 'plan' || isConfidence(name);
}

/** Whether runs of the strategy measure the results of their plan’s steps. */
export function isConfidence(name: string): boolean {
  return name === 'confidence';
}
