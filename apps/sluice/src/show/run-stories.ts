import type { Incoming } from '@sluice/bus';
import type { Paint } from './paint.js';
import { Story } from './story.js';

/** So much of a run's id stands before each of its lines: 'agent-' and eight characters. */
const markCharacters = 14;

/** Tells a run, and between its lines those of the agents that it calls: each line of theirs is set in and marked. */
export class RunStories {
  private readonly ofAgents = new Map<string, Story>();
  private readonly own: Story;

  constructor(
    private readonly write: (text: string) => void,
    private readonly paint: Paint,
    private readonly inForce: ConstructorParameters<typeof Story>[2] = null,
  ) {
    this.own = new Story(write, paint, inForce);
  }

  /**
   * `within`: the request_ids of the agents’ runs that the record is of, the outer one first; none for the run’s
   * own.
   */
  tell(message: Incoming, within: readonly string[] = []): void {
    const id = within.at(-1);
    if (id === undefined) return this.own.tell(message);
    const story = this.ofAgents.get(id) ?? this.agent(id, within.length);
    this.ofAgents.set(id, story);
    story.tell(message);
  }

  private agent(id: string, depth: number): Story {
    const mark = this.paint.dim(`${'   '.repeat(depth)}${id.slice(0, markCharacters)} │ `);
    const marked = (text: string): string => text.replace(/^(?=.)/gm, () => mark).replace(/^\n/, '');
    return new Story((text) => this.write(marked(text)), this.paint, this.inForce);
  }
}
