import { choice, dashboardOf } from './dashboard.ts';
import { figure, lines } from './panels.ts';
import { increase, orZero, quantile, rate, sumBy } from './queries.ts';

const model = 'gen_ai_request_model=~"$model"';
const provider = 'gen_ai_provider_name=~"$provider"';
const duration = 'gen_ai_client_operation_duration_seconds';
const tokens = 'gen_ai_client_token_usage';
const turns = rate(`${duration}_count`, model, provider);
const failures = rate(`${duration}_count`, model, provider, 'error_type!=""');

export const modelDashboard = dashboardOf({
  name: 'model',
  title: 'Model',
  description: 'What the language models cost, how long they take, and how often they fail.',
  variables: [
    choice('provider', 'Provider', `label_values(${duration}_count{job="sluice"}, gen_ai_provider_name)`),
    choice('model', 'Model', `label_values(${duration}_count{job="sluice"}, gen_ai_request_model)`),
  ],
  rows: {
    'In the time range': [
      figure(
        { title: 'Turns', description: 'Asked of models, failed ones included.', unit: 'short' },
        sumBy('', increase(`${duration}_count`, model, provider)),
      ),
      figure(
        { title: 'Input tokens', description: 'As the providers count them.', unit: 'short' },
        sumBy('', increase(`${tokens}_sum`, model, provider, 'gen_ai_token_type="input"')),
      ),
      figure(
        { title: 'Output tokens', description: 'As the providers count them.', unit: 'short' },
        sumBy('', increase(`${tokens}_sum`, model, provider, 'gen_ai_token_type="output"')),
      ),
      figure(
        {
          title: 'Cost',
          description:
            'Tokens by model.price of the configuration, in its currency; nothing where no price is configured.',
          unit: 'short',
        },
        orZero(sumBy('', increase('sluice_model_cost_total', model))),
      ).decimals(2),
      figure(
        {
          title: 'Turns that failed',
          description: 'Unreachable or refused, each attempt counted.',
          unit: 'percentunit',
        },
        `(${orZero(sumBy('', failures))}) / ${sumBy('', turns)}`,
        0.05,
      ),
      figure(
        {
          title: 'Runs that ended for it',
          description: 'Ends with model_failed: no attempt gave a usable turn before the deadline.',
          unit: 'short',
        },
        sumBy('', increase('sluice_runs_ended_total', 'outcome="model_failed"')),
        1,
      ),
    ],
    Time: [
      lines(
        {
          title: 'Duration of a turn',
          description: 'From the request to the end of the model’s text or calls.',
          unit: 's',
        },
        { expr: quantile(0.5, duration, '', model, provider), legend: 'median' },
        { expr: quantile(0.95, duration, '', model, provider), legend: '95 %' },
        { expr: quantile(0.99, duration, '', model, provider), legend: '99 %' },
      ),
      lines(
        { title: 'Duration by model, 95 % within', description: 'The same, model by model.', unit: 's' },
        { expr: quantile(0.95, duration, 'gen_ai_request_model', model, provider), legend: '{{gen_ai_request_model}}' },
      ),
      lines(
        { title: 'Turns a second', description: 'Asked of models, by model.', unit: 'reqps' },
        { expr: sumBy('gen_ai_request_model', turns), legend: '{{gen_ai_request_model}}' },
      ),
    ],
    'Tokens, cost and refusals': [
      lines(
        { title: 'Tokens', description: 'A second, by model and type.', unit: 'cps' },
        {
          expr: sumBy('gen_ai_request_model, gen_ai_token_type', rate(`${tokens}_sum`, model, provider)),
          legend: '{{gen_ai_request_model}}: {{gen_ai_token_type}}',
        },
      ),
      lines(
        {
          title: 'What requests are made of',
          description:
            'Tokens a second of definitions of tools, of results of calls and of the rest, counted by Sluice.',
          unit: 'short',
        },
        {
          expr: orZero(sumBy('part', rate('sluice_prompt_tokens_total', model))),
          legend: '{{part}}',
        },
      ),
      lines(
        {
          title: 'First uses of deferred tools',
          description: 'A second, by whether the tool’s page had been read before.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('documentation', rate('sluice_deferred_first_uses_total'))),
          legend: '{{documentation}}',
        },
      ),
      lines(
        {
          title: 'Input from the cache',
          description:
            'Share of the input tokens that the providers had in their caches, and that they wrote into them.',
          unit: 'percentunit',
        },
        {
          expr: `(${orZero(sumBy('', rate(`${tokens}_sum`, model, provider, 'gen_ai_token_type="input_cached"')))}) / ${sumBy('', rate(`${tokens}_sum`, model, provider, 'gen_ai_token_type="input"'))}`,
          legend: 'read',
        },
        {
          expr: `(${orZero(sumBy('', rate(`${tokens}_sum`, model, provider, 'gen_ai_token_type="input_cache_write"')))}) / ${sumBy('', rate(`${tokens}_sum`, model, provider, 'gen_ai_token_type="input"'))}`,
          legend: 'written',
        },
      ),
      lines(
        {
          title: 'Models skipped',
          description:
            'Turns for which the next model of the list was asked, by the model that gave none; left out are those that were not asked, since they had just failed.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('gen_ai_request_model', rate('sluice_models_passed_over_total', model, provider))),
          legend: '{{gen_ai_request_model}}',
        },
        {
          expr: orZero(sumBy('gen_ai_request_model', rate('sluice_models_left_out_total', model, provider))),
          legend: '{{gen_ai_request_model}} left out',
        },
      ),
      lines(
        {
          title: 'Tokens of a turn',
          description: 'On average. Input grows with the history and with the number of offered tools.',
          unit: 'short',
        },
        {
          expr: `${sumBy('gen_ai_token_type', rate(`${tokens}_sum`, model, provider))} / ${sumBy('gen_ai_token_type', rate(`${tokens}_count`, model, provider))}`,
          legend: '{{gen_ai_token_type}}',
        },
      ),
      lines(
        {
          title: 'Cost an hour',
          description: 'By model.price of the configuration, in its currency.',
          unit: 'short',
        },
        {
          expr: orZero(`3600 * ${sumBy('gen_ai_request_model', rate('sluice_model_cost_total', model))}`),
          legend: '{{gen_ai_request_model}}',
        },
      ),
      lines(
        {
          title: 'Refused by budgets of a span',
          description: 'Calls of models that policy.budgets.spans had no room for.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('per, unit', rate('sluice_model_budget_refusals_total'))), legend: '{{per}}: {{unit}}' },
      ),
      lines(
        {
          title: 'Failed turns by reason',
          description:
            'model_unreachable may pass: network, 429, 5xx, too slow. model_refused will not: key, request, content.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('error_type, gen_ai_request_model', failures)),
          legend: '{{gen_ai_request_model}}: {{error_type}}',
        },
      ),
    ],
  },
});
