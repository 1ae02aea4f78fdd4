/** A record's place on the log, as it is written everywhere: `agent.steps/0/17`. */
export function positionOf(place: {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}): string {
  return `${place.topic}/${place.partition}/${place.offset}`;
}
