import {
  type AnsweredSearch,
  answeredSearches,
  type Body,
  type DecodedTurn,
  editRequest,
  type Message,
  type NativeSearch,
  type ResultPart,
  type Round,
  type WireName,
  type WireTool,
  withBeta,
} from '@sluice/wires';

/** Rounds of searches that are answered for one request. */
const mostRounds = 5;

/** What a search gave. */
interface SearchAnswer {
  /** Definitions that the model does not have yet, as their client wrote them. */
  readonly added: readonly { readonly raw: string }[];
  /** What the model reads. */
  readonly text: string;
}

interface LoopSetup {
  readonly wire: WireName;
  /** The client’s request. */
  readonly body: Body;
  readonly keepTool: (name: string) => boolean;
  /** Null where the model gets none, so that there is one round. */
  readonly searchTool: WireTool | null;
  /**
   * The provider’s own search, which finds the tools that are marked for it; null for none. There is no other one
   * beside.
   */
  readonly native: { readonly search: NativeSearch; readonly deferTool: (name: string) => boolean } | null;
  search(args: string): Promise<SearchAnswer>;
  /** Takes note of a search that the provider answered. */
  answered(search: AnsweredSearch): void;
}

/** What follows from a round of the model. */
interface RoundResult {
  /** Whether the model is asked again before the client has its answer. */
  readonly goesOn: boolean;
  /** Whether the client gets calls of its own tools. */
  readonly hasCalls: boolean;
}

/** What a later request says of a search that was not answered: every call has a result. */
const noSearch = 'This search was not answered. Search again if you need to.';

/**
 * The conversation with the model for one request of a client: its searches are answered here, and it is asked again
 * with what they found.
 */
export class SearchLoop {
  /** Rounds whose searches were answered. */
  rounds = 0;
  /** Tokens of each round, in order. */
  readonly usages: DecodedTurn['usage'][] = [];
  private readonly _called = new Set<string>();
  private readonly _rounds: Round[] = [];
  private readonly messages: Message[] = [];
  private readonly found: string[] = [];
  private next: string | null = null;

  constructor(private readonly setup: LoopSetup) {}

  /** Names of the client’s tools that the model called. */
  get called(): readonly string[] {
    return [...this._called];
  }

  /**
   * The rounds so far, where the client sees them as one answer and some of their calls not at all; null where it
   * sees what the model said.
   */
  get hiddenRounds(): readonly Round[] | null {
    return this._rounds.some(({ results }) => results.length > 0) ? this._rounds : null;
  }

  /** The body of the next request to the model. What stays of the client’s request keeps its bytes and its order. */
  request(): string {
    return (this.next ??= this.edited());
  }

  private edited(): string {
    const { wire, body, keepTool, searchTool, native } = this.setup;
    const edited = editRequest(wire, body, {
      keepTool,
      ...(native === null ? {} : { deferTool: native.deferTool }),
      leadTools: searchTool === null ? [] : [searchTool],
      addRawTools: native === null ? this.found : [native.search.tool],
      moveCacheMarks: true,
      addMessages: this.messages,
    });
    const beta = native?.search.betaInBody ?? null;
    return beta === null ? edited : withBeta(edited, beta);
  }

  /** Takes a round of the model in. Calls of the client’s own tools end the loop: they are the client’s to run. */
  async take(turn: DecodedTurn): Promise<RoundResult> {
    this.usages.push(turn.usage);
    this.next = null;
    if (this.setup.native !== null) for (const search of answeredSearches(turn.parts)) this.setup.answered(search);
    const searches: ResultPart[] = [];
    const unanswered: ResultPart[] = [];
    let hasCalls = false;
    const isComplete = turn.finish === 'calls' || turn.finish === 'stop';
    for (const part of turn.parts) {
      if (part.type !== 'call') continue;
      if (part.name !== this.setup.searchTool?.name) {
        hasCalls = true;
        this._called.add(part.name);
      } else if (isComplete && this.rounds < mostRounds) {
        const { added, text } = await this.setup.search(part.args);
        this.found.push(...added.map(({ raw }) => raw));
        searches.push({ type: 'result', toolCallId: part.toolCallId, name: part.name, text, isError: false });
      } else
        unanswered.push({
          type: 'result',
          toolCallId: part.toolCallId,
          name: part.name,
          text: noSearch,
          isError: true,
        });
    }
    this._rounds.push({ parts: turn.parts, results: [...searches, ...unanswered] });
    if (searches.length === 0) return { goesOn: false, hasCalls };
    this.rounds += 1;
    if (hasCalls) return { goesOn: false, hasCalls };
    this.messages.push({ role: 'assistant', parts: turn.parts }, { role: 'user', parts: searches });
    return { goesOn: true, hasCalls };
  }
}
