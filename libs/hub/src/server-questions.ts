import { ProtocolError, ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/client';
import type { Client, ClientCapabilities, InputRequiredResult, JSONRPCMessage } from '@modelcontextprotocol/client';
import { isJsonObject, utf8Length } from '@sluice/core';
import type { JsonObject, JsonValue, McpServer } from '@sluice/core';
import type { QuestionEnd, QuestionKind, QuestionOutcome, QuestionRefusal } from './call-questions.js';
import type { SamplingMessage, CallAnswers, FormAnswer } from './hub.js';
import type { CallTime } from './call-time.js';

/** Questions that a server may ask in one call, and bytes of each. */
const mostQuestions = 20;
const questionBytes = 65_536;
/** Bytes of what a call needs to go on that is parked; with more it waits where it is. */
const parkedBytes = 131_072;

interface CallUnderWay {
  /** The idempotency key, by which its request is known. */
  readonly key: string;
  readonly answers: CallAnswers | undefined;
  /** Stands still while a person is asked. */
  readonly time: CallTime;
  /** Ids of its requests. */
  readonly ids: Set<string | number>;
  /** Tasks of the server that it runs as. */
  readonly tasks: Set<string>;
  asked: number;
  /** One person answers one question after another. */
  turn: Promise<unknown>;
}

interface Parts {
  hide(text: string): string;
  log(message: string): void;
  onQuestion(kind: QuestionKind, outcome: QuestionOutcome): void;
  /** The request on whose stream a question came; undefined where the transport does not say. */
  requestOf(question: string | number): string | number | undefined;
}

/** By the method, which the server chooses: no name of an object’s own members is one. */
const kinds: ReadonlyMap<string, QuestionKind> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/** A question that gets no answer; the text is for the server and the log. */
export class RefusedQuestion extends ProtocolError {
  constructor(
    readonly reason: QuestionRefusal,
    text: string,
    code: number = ProtocolErrorCode.InvalidRequest,
  ) {
    super(code, text);
  }
}

/** Who is asked has time to answer: the call goes on later, with the answers that there are. */
export class ParkedQuestion extends Error {
  constructor(readonly answers: JsonObject) {
    super('The call is parked.');
  }
}

/** A question that came. */
interface Question {
  readonly kind: QuestionKind;
  /** Says to call and metrics how it was answered. */
  end(end: QuestionEnd): void;
}

/**
 * What a server asks while its calls run. A question goes to the one who answers for its call, in turn with the other
 * questions of that call; every other one is refused at once, with the reason.
 */
export class ServerQuestions {
  private readonly calls = new Set<CallUnderWay>();
  private saidRefused = false;

  constructor(
    private readonly server: Pick<McpServer, 'id' | 'elicitation' | 'sampling' | 'roots'>,
    private readonly parts: Parts,
  ) {}

  /** What the client says of itself. */
  get capabilities(): ClientCapabilities {
    const { elicitation, sampling } = this.server;
    return {
      roots: {},
      ...(elicitation === 'none' ? {} : { elicitation: { form: {} } }),
      ...(sampling === undefined ? {} : { sampling: {} }),
    };
  }

  /** Answers what the server asks by requests of its own, in the revisions that have them. */
  serve(client: Client): void {
    const { elicitation, sampling } = this.capabilities;
    const handlerOf =
      (method: string) => (request: { params?: unknown }, context: { mcpReq: { id: string | number } }) =>
        this.answer(this.callOf(context.mcpReq.id, request.params), method, request.params) as Promise<never>;
    client.setRequestHandler('roots/list', handlerOf('roots/list'));
    if (elicitation !== undefined) client.setRequestHandler('elicitation/create', handlerOf('elicitation/create'));
    if (sampling !== undefined) client.setRequestHandler('sampling/createMessage', handlerOf('sampling/createMessage'));
    client.fallbackRequestHandler = (request, context) => {
      if (kinds.has(request.method)) return handlerOf(request.method)(request, context);
      throw new RefusedQuestion('unsupported', 'Method not found', ProtocolErrorCode.MethodNotFound);
    };
  }

  /** Does the work of a call; what the server asks meanwhile goes to its answers. */
  async during<T>(
    given: Pick<CallUnderWay, 'key' | 'answers' | 'time'>,
    work: (call: CallUnderWay) => Promise<T>,
  ): Promise<T> {
    const call = { ...given, ids: new Set<string>(), tasks: new Set<string>(), asked: 0, turn: Promise.resolve() };
    this.calls.add(call);
    try {
      return await work(call);
    } finally {
      this.calls.delete(call);
    }
  }

  /** Called with each message to the server: by a call’s key its request is known. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message)) return;
    const { _meta, taskId } = (message.params ?? {}) as JsonObject;
    const key = isJsonObject(_meta) ? _meta['sluice/idempotency-key'] : undefined;
    for (const call of this.calls)
      if (call.key === key || (typeof taskId === 'string' && call.tasks.has(taskId))) call.ids.add(message.id);
  }

  /**
   * The answers to what a result asks for, in the revision that asks so, beside those that are `given`. Throws where
   * one gets none, and ParkedQuestion where one takes time.
   */
  async answersTo(wanted: InputRequiredResult, call: CallUnderWay, given: JsonObject): Promise<JsonObject> {
    const { inputRequests = {} } = wanted;
    let answers = given;
    const isForm = (method: string): boolean => kinds.get(method) === 'elicitation';
    const open = Object.entries(inputRequests).filter(([name]) => !Object.hasOwn(given, name));
    // What needs no person is answered first, so that it is not parked.
    const inTurn = [...open.filter(([, one]) => !isForm(one.method)), ...open.filter(([, one]) => isForm(one.method))];
    for (const [name, { method, params }] of inTurn) {
      const mayPark = utf8Length(JSON.stringify([wanted, answers])) <= parkedBytes;
      try {
        answers = { ...answers, [name]: await this.answer(call, method, params, mayPark) };
      } catch (error) {
        throw error === parks ? new ParkedQuestion(answers) : error;
      }
    }
    return answers;
  }

  private async answer(
    call: CallUnderWay | string,
    method: string,
    params: unknown,
    mayPark = false,
  ): Promise<JsonValue> {
    const kind = kinds.get(method);
    if (kind === undefined) throw new RefusedQuestion('unsupported', `A client is not asked for ${method}.`);
    const question = this.begin(kind, call);
    try {
      const given = (params ?? {}) as JsonObject;
      if (kind === 'roots') {
        question.end({ outcome: 'answered' });
        return { roots: (this.server.roots ?? []).map((root) => ({ ...root })) };
      }
      if (kind === 'sampling' && this.server.sampling === undefined)
        throw new RefusedQuestion(
          'off',
          `Sampling is off for this server. The key sampling of its entry in Sluice’s configuration turns it on.`,
          ProtocolErrorCode.MethodNotFound,
        );
      // Which call it is of is not known, so it stands in no step.
      if (typeof call === 'string') return this.without(question, 'unsupported', call);
      if (++call.asked > mostQuestions)
        throw new RefusedQuestion(
          'limit',
          `A call may ask for at most ${mostQuestions} inputs, and this one asks for more.`,
        );
      if (utf8Length(JSON.stringify(given)) > questionBytes)
        throw new RefusedQuestion('limit', `The question is larger than ${questionBytes} bytes.`);
      const ask = (): Promise<JsonValue> =>
        kind === 'elicitation' ? this.elicit(given, call, question, mayPark) : this.sample(given, call, question);
      const answer = call.turn.then(ask, ask);
      call.turn = answer;
      return await answer;
    } catch (error) {
      if (error instanceof RefusedQuestion) this.refused(question, error.reason, error.message);
      throw error;
    }
  }

  private begin(kind: QuestionKind, call: CallUnderWay | string): Question {
    const ended = typeof call === 'string' ? undefined : call.answers?.asked?.(kind);
    return {
      kind,
      end: (end) => {
        this.parts.onQuestion(kind, end.outcome);
        ended?.(end);
      },
    };
  }

  private async elicit(
    params: JsonObject,
    call: CallUnderWay,
    question: Question,
    mayPark: boolean,
  ): Promise<JsonValue> {
    if (this.server.elicitation === 'none') return this.without(question, 'off', 'Forms are off for this server.');
    if (params['mode'] === 'url')
      throw new RefusedQuestion(
        'unsupported',
        'Sluice passes on forms alone, and no addresses to open.',
        invalidParams,
      );
    const read = specTypeSchemas.ElicitRequestFormParams['~standard'].validate(params);
    if (read instanceof Promise || read.issues !== undefined)
      throw new RefusedQuestion('invalid', 'The form is not as the protocol has forms.', invalidParams);
    const { message, requestedSchema } = params as { message: string; requestedSchema: JsonObject };
    const { elicit } = call.answers ?? {};
    if (elicit === undefined) return this.without(question, 'no_person', noPerson);
    const form = { message: this.parts.hide(message), requestedSchema };
    const answer = await call.time.paused(() => elicit(form, mayPark));
    if (answer === 'parks') throw parks;
    if ('refused' in answer) return this.without(question, 'no_person', answer.refused);
    const { by, ...given } = answer;
    question.end({ outcome: outcomes[given.action], ...(by === undefined ? {} : { by }) });
    return withDefaults(given, requestedSchema);
  }

  private async sample(params: JsonObject, call: CallUnderWay, question: Question): Promise<JsonValue> {
    const { sample } = call.answers ?? {};
    if (sample === undefined) throw new RefusedQuestion('off', 'No model answers for this call.');
    if (params['tools'] !== undefined || params['toolChoice'] !== undefined)
      throw new RefusedQuestion('unsupported', 'A model that is asked for a server has no tools.', invalidParams);
    const read = specTypeSchemas.CreateMessageRequestParams['~standard'].validate(params);
    if (read instanceof Promise || read.issues !== undefined)
      throw new RefusedQuestion(
        'invalid',
        'The request is not as the protocol has requests for sampling.',
        invalidParams,
      );
    const { messages, systemPrompt, maxTokens, temperature, stopSequences } = read.value;
    const answer = await sample({
      messages: messages.flatMap(({ role, content }) => [content].flat().map((block) => messageOf(role, block))),
      systemPrompt: systemPrompt ?? null,
      maxTokens,
      ...(temperature === undefined ? {} : { temperature }),
      ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    });
    if ('refused' in answer) throw new RefusedQuestion(answer.reason, answer.refused);
    const { text, model, stopReason, inputTokens, outputTokens } = answer;
    question.end({ outcome: 'answered', by: model, inputTokens, outputTokens });
    return { role: 'assistant', content: { type: 'text', text }, model, stopReason };
  }

  /** A question that has no answer here: a form is declined, any other one refused. */
  private without(question: Question, reason: QuestionRefusal, text: string): JsonValue {
    if (question.kind !== 'elicitation') throw new RefusedQuestion(reason, text);
    this.refused(question, reason, text);
    return { action: 'decline', _meta: { 'sluice/reason': text } };
  }

  private refused(question: Question, reason: QuestionRefusal, text: string): void {
    question.end({ outcome: 'refused', reason });
    if (!this.saidRefused)
      this.parts.log(`asked something in the middle of a call (${question.kind}) and was refused: ${text}`);
    this.saidRefused = true;
  }

  /** The call that a question is of, or why that is not known. */
  private callOf(question: string | number, params: unknown): CallUnderWay | string {
    const calls = [...this.calls];
    const task = taskIn(params);
    const request = this.parts.requestOf(question);
    const [own] = calls.filter(({ ids, tasks }) =>
      task !== null ? tasks.has(task) : request !== undefined && ids.has(request),
    );
    if (own !== undefined) return own;
    const [only, ...others] = calls;
    if (task !== null || only === undefined) return 'No call is under way that the question could be of.';
    if (others.length === 0) return only;
    return `${calls.length} calls are under way over this connection, and the server does not say which one asks.`;
  }
}

const parks = new Error('The question takes time.');
const outcomes = { accept: 'answered', decline: 'declined', cancel: 'cancelled' } as const;
const invalidParams = ProtocolErrorCode.InvalidParams;
const noPerson = 'No person can answer: a model made the call, or its client shows no forms. Go on without an answer.';

function taskIn(params: unknown): string | null {
  const { _meta } = (params ?? {}) as JsonObject;
  const related = isJsonObject(_meta) ? _meta['io.modelcontextprotocol/related-task'] : undefined;
  return isJsonObject(related) && typeof related['taskId'] === 'string' ? related['taskId'] : null;
}

function messageOf(role: 'user' | 'assistant', block: { readonly type: string }): SamplingMessage {
  if (block.type !== 'text')
    throw new RefusedQuestion('unsupported', `A model is asked in text alone, and not by ${block.type}.`);
  return { role, text: (block as unknown as { readonly text: string }).text };
}

/** Fields that were left out have the values that the form gives them. */
function withDefaults(answer: FormAnswer, { properties }: JsonObject): JsonObject {
  if (answer.action !== 'accept' || !isJsonObject(properties)) return { ...answer };
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    isJsonObject(field) && field['default'] !== undefined ? [[name, field['default']] as const] : [],
  );
  return { ...answer, content: { ...Object.fromEntries(defaults), ...answer.content } };
}
