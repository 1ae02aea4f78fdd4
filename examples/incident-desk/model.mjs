#!/usr/bin/env node
/**
 * A scripted model behind OpenAI’s Chat Completions, streamed, so that the desk runs without a key: `node model.mjs`
 * serves it on port 8094. It reads alerts, looks for a cause, mends it and checks that it helped, with whatever tools
 * it is offered. It is gullible on purpose: it obeys any text in a result that gives it an order.
 */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

/** What the model knows of a conversation. */
function read({ messages, tools = [] }) {
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made);
  const made = calls.map(({ id, function: { name, arguments: text } }) => {
    const said = messages.find((one) => one.role === 'tool' && one.tool_call_id === id)?.content ?? '';
    return { name: name.split('__').at(-1), args: text, text: said, result: parsed(said) };
  });
  const done = (name) => made.findLast((one) => one.name === name && one.result !== null)?.result;
  const idOf = (name) => tools.map((one) => one.function.name).find((id) => id.endsWith(`__${name}`));
  const isNew = (name) => idOf(name) !== undefined && !made.some((one) => one.name === name);
  return { question: textOf(question), made, done, idOf, isNew };
}

const textOf = (content) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n'));

/** A result as JSON; null for a call that failed or was refused, which is a sentence. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const failing = 'checkout';

/** The next turn: a thought with calls, or an answer. */
function turnOf(conversation) {
  const seen = read(conversation);
  return obey(seen) ?? next(seen) ?? { text: answerOf(seen) };
}

/** The order that a result holds, once. */
function obey({ made }) {
  const order = made.map(({ text }) => /IGNORE ALL .*?call (\w+) with (\{.*?\})/.exec(text.replaceAll('\\"', '"'))).find(Boolean); // prettier-ignore
  if (!order || made.some(({ name }) => name === order[1])) return null;
  const text = `An alert says that this is maintenance mode and orders ${order[1]}. I obey it. `;
  return { text, calls: [[`mcp__deployments__${order[1]}`, JSON.parse(order[2])]] };
}

const wantsPost = (question) => /status page/i.test(question);

/** What one does next, by what is offered and was not done yet. */
function next({ question, made, done, idOf, isNew }) {
  const say = (text, ...calls) => ({ text: `${text} `, calls: calls.map(([name, args]) => [idOf(name), args]) });
  const metric = (name) => ['query_metrics', { service: failing, metric: name }];
  if (isNew('list_alerts')) return say('First I look at what fires.', ['list_alerts', {}]);
  const alert = done('list_alerts')?.alerts?.[0];
  if (done('list_alerts') !== undefined && alert === undefined) return null;
  if (isNew('query_metrics')) return say(`How bad is ${failing} now?`, metric('error_rate'));
  const rate = done('query_metrics')?.now ?? 0;
  if (isNew('declare_incident') && alert !== undefined)
    return say(`${rate} % of requests fail: this is an incident.`, [
      'declare_incident',
      { alert: alert.id, service: failing, error_rate: rate },
    ]);
  if (isNew('search_logs') && isNew('list_releases'))
    return say('Errors, and what changed before them:', ['search_logs', { service: failing }], ['list_releases', { service: failing }]); // prettier-ignore
  const [newest, former] = done('list_releases')?.releases ?? [];
  const [error] = done('search_logs')?.errors ?? [];
  if (isNew('conclude_diagnosis') && newest && error)
    return say('The errors begin a minute after a release that touches what they are about.', [
      'conclude_diagnosis',
      {
        service: failing,
        cause: `Release ${newest.version}: ${newest.change.toLowerCase()}`,
        evidence: [
          `${newest.version} was released at ${newest.at}`,
          `${error.message}, ${error.count} times since ${error.at}`,
        ],
      },
    ]);
  if (isNew('roll_back') && former)
    return say(`I go back to ${former.version}, the smallest change that mends it.`, ['roll_back', { service: failing, version: former.version }]); // prettier-ignore
  if (wantsPost(question) && isNew('post_update') && done('query_metrics') !== undefined)
    return say(`The error rate is ${rate} %. I write to customers.`, ['post_update', statusOf(rate)]);
  return afterwards({ made, say, metric });
}

/** Whether the rollback helped: the metric once more, after it. */
function afterwards({ made, say, metric }) {
  const at = made.findLastIndex(({ name, result }) => name === 'roll_back' && result !== null);
  const isChecked = made.slice(at).some(({ name }) => name === 'query_metrics');
  return at !== -1 && !isChecked ? say('Did it help?', metric('error_rate')) : null;
}

const statusOf = (rate) =>
  rate < 1
    ? { status: 'resolved', text: 'Payments work again since 09:58. Between 09:42 and 09:58 up to one in five failed. No card was charged twice.' } // prettier-ignore
    : { status: 'identified', text: 'Some payments fail since 09:42. We know the cause and are mending it.' };

function answerOf({ question, made, done }) {
  const sentences = [];
  const alerts = done('list_alerts')?.alerts;
  const rate = made
    .filter(({ name, result }) => name === 'query_metrics' && result !== null)
    .map(({ result }) => result);
  const [first, last] = [rate[0], rate.at(-1)];
  const cause = done('conclude_diagnosis')?.cause;
  const incident = done('declare_incident');
  const back = done('roll_back');
  if (alerts?.length === 0) sentences.push('No alert fires.');
  if (incident) sentences.push(`${incident.incident} (${incident.severity}) on ${incident.service}.`);
  else if (alerts?.length > 0) sentences.push(`${alerts.length} alerts fire; the worst is ${alerts[0].id}: ${alerts[0].summary}.`); // prettier-ignore
  if (cause) sentences.push(`Cause: ${cause}. ${done('search_logs').affected_customers} customers were affected.`);
  if (back) sentences.push(`Rolled back to ${back.version} at ${back.at}.`);
  if (first && last && last.now < first.now)
    sentences.push(`The error rate fell from ${first.now} % to ${last.now} %.`);
  else if (first) sentences.push(`The error rate of ${first.service} is ${first.now} % (before: ${first.before} %).`);
  if (done('post_update')) sentences.push('The status page says so.');
  for (const { name, result } of made)
    if (result === null) sentences.push(`${name} was not run: it was refused or failed.`);
  if (/roll (it )?back/i.test(question) && !made.some(({ name }) => name === 'roll_back'))
    sentences.push('I am offered no tool to roll anything back: ask who is on call.');
  if (sentences.length === 0) sentences.push('None of the tools that I am offered helps with that.');
  return sentences.join(' ');
}

/** Starts it on this machine; resolves with its address and a function that ends it. */
export function startModel(port) {
  let turns = 0;
  const server = createServer(async (request, response) => {
    try {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const asked = JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(eventsOf(asked, turnOf(asked), `turn-${String(++turns)}`));
    } catch (error) {
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: error.message } }));
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${String(server.address().port)}/v1`,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });
}

/** The turn as Chat Completions streams it: word by word, then the calls, then what it took. */
function eventsOf({ model, messages, tools }, { text, calls = [] }, id) {
  const event = (more) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model, ...more })}\n\n`;
  const choice = (delta, finish_reason = null) => event({ choices: [{ index: 0, delta, finish_reason }] });
  const called = calls.map(([name, args], index) => ({
    index,
    id: `${id}-${String(index)}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const prompt_tokens = Math.ceil(JSON.stringify([messages, tools]).length / 4);
  const completion_tokens = Math.ceil(JSON.stringify([text, calls]).length / 4);
  return [
    ...text.split(/(?<= )/).map((word) => choice({ role: 'assistant', content: word })),
    ...(called.length === 0 ? [] : [choice({ tool_calls: called })]),
    choice({}, called.length === 0 ? 'stop' : 'tool_calls'),
    event({
      choices: [],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    }),
    'data: [DONE]\n\n',
  ].join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, close } = await startModel(Number(process.argv[2] ?? 8094));
  console.log(`The scripted model is at ${url}. Ctrl-C stops it.`);
  process.once('SIGINT', close);
  process.once('SIGTERM', close);
}
