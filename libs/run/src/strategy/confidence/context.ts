import { bytesPerToken, cut, utf8Length } from '@sluice/core';
import type { Step } from '@sluice/core';

/** Characters of a result that is shown in brief. */
const briefCharacters = 200;

/**
 * What a model is shown of a run’s steps: of this request alone, and within so many tokens. The last step comes
 * first, then the results that the step at hand needs, then the others from the newest to the oldest: whole where
 * there is room, else with the beginning of their result, else not at all. In their order.
 */
export function contextOf<Shown extends Step>(
  history: readonly Shown[],
  {
    brought,
    tokens,
    needed,
  }: { readonly brought: number; readonly tokens: number; readonly needed: ReadonlySet<string> },
): readonly Shown[] {
  const own = history.slice(brought);
  const newest = own.toReversed();
  const [last] = newest;
  if (last === undefined) return own;
  const rest = newest.slice(1);
  const order = [
    ...rest.filter((step) => needed.has(step.toolCallId)),
    ...rest.filter((step) => !needed.has(step.toolCallId)),
  ];
  const shown = new Map<Shown, Shown>();
  let left = tokens;
  const show = (step: Shown, as: Shown): void => {
    shown.set(step, as);
    left -= tokensOf(as);
  };
  // What was just done stands there in any case.
  show(last, tokensOf(last) <= tokens ? last : brief(last));
  for (const step of order) {
    const as = [step, brief(step)].find((one) => tokensOf(one) <= left);
    if (as !== undefined) show(step, as);
  }
  return own.flatMap((step) => shown.get(step) ?? []);
}

/** About how many tokens a step takes: equal everywhere, so that a replay asks what was asked. */
function tokensOf({
  thought,
  arguments: args,
  observation,
}: Pick<Step, 'thought' | 'arguments' | 'observation'>): number {
  return Math.ceil((utf8Length(thought) + utf8Length(args) + utf8Length(observation)) / bytesPerToken);
}

function brief<Shown extends Step>(step: Shown): Shown {
  const { observation } = step;
  if (observation.length <= briefCharacters) return step;
  return { ...step, observation: `${cut(observation, briefCharacters)} [The result is longer and is left out here.]` };
}
