import { describe, expect, it } from '@jest/globals';
import { Fault, type ModelSettings, type ModelTurn } from '@sluice/core';
import { askInOrder, ModelRest } from '@sluice/model';

const settings = (name: string): ModelSettings => ({
  ...{ provider: 'anthropic', name, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
});
const models = [settings('one'), settings('two'), settings('three')];
const turn: ModelTurn = { thought: '', calls: [], answer: 'So.', inputTokens: 1, outputTokens: 1 };
const away = (name: string | null) => new Fault('model_unreachable', `${String(name)} asks to wait (429).`, true);

function asked(
  away: Readonly<Record<string, Error>>,
  rest = new ModelRest(() => 0),
  onAsk: () => void = () => undefined,
) {
  const leftOut: (string | null)[] = [];
  const order: (string | null)[] = [];
  const told: (string | null)[] = [];
  const end = askInOrder(
    models,
    ({ name }) => {
      order.push(name);
      onAsk();
      const fault = away[name ?? ''];
      return fault === undefined ? Promise.resolve(turn) : Promise.reject(fault);
    },
    {
      rest,
      onPassedOver: ({ name }) => told.push(name),
      onLeftOut: ({ name }) => leftOut.push(name),
    },
  );
  return { end, order, told, leftOut };
}

describe('a list of models', () => {
  it('asks the first alone where that gives its turn', async () => {
    const { end, order } = asked({});
    expect(await end).toEqual({ turn, settings: models[0], passedOver: [] });
    expect(order).toEqual(['one']);
  });

  it('asks the next where one is out of reach or has no capacity, and says which were asked and why', async () => {
    const { end, order, told } = asked({ one: away('one'), two: away('two') });
    expect(await end).toEqual({
      turn,
      settings: models[2],
      passedOver: [
        { name: 'anthropic/one', code: 'model_unreachable', message: 'one asks to wait (429).' },
        { name: 'anthropic/two', code: 'model_unreachable', message: 'two asks to wait (429).' },
      ],
    });
    expect([order, told]).toEqual([
      ['one', 'two', 'three'],
      ['one', 'two'],
    ]);
  });

  it('asks no other where one refuses for good: that is the operator’s to mend', async () => {
    const refused = new Fault('model_refused', 'The key was not accepted.', false);
    const { end, order } = asked({ one: away('one'), two: refused });
    await expect(end).rejects.toBe(refused);
    expect(order).toEqual(['one', 'two']);
  });

  it('names all of them where none gives a turn', async () => {
    const { end } = asked({ one: away('one'), two: away('two'), three: away('three') });
    await expect(end).rejects.toMatchObject({
      code: 'model_unreachable',
      retryable: true,
      message: 'three asks to wait (429). Neither could anthropic/one, anthropic/two.',
    });
  });
});

describe('a model that fails', () => {
  let now = 0;
  const rested = () => new ModelRest(() => now);

  it('is left out for 30 seconds after three failures in a row, and said so', async () => {
    const rest = rested();
    for (let i = 0; i < 3; i++) expect((await asked({ one: away('one') }, rest).end).settings.name).toBe('two');
    const out = asked({ one: away('one') }, rest);
    expect((await out.end).passedOver).toEqual([
      {
        name: 'anthropic/one',
        code: 'model_unreachable',
        message: 'The model anthropic/one is left out: it had just failed.',
      },
    ]);
    expect([out.order, out.leftOut]).toEqual([['two'], ['one']]);
    now += 30_000;
    const [probe, beside] = [asked({}, rest), asked({}, rest)];
    await Promise.all([probe.end, beside.end]);
    expect([probe.order, beside.order]).toEqual([['one'], ['two']]);
    const well = asked({}, rest);
    await well.end;
    expect(well.order).toEqual(['one']);
  });

  it('is left out at once where it took 10 seconds to fail', async () => {
    const rest = rested();
    await asked({ one: away('one') }, rest, () => (now += 10_000)).end;
    const next = asked({}, rest);
    await next.end;
    expect(next.order).toEqual(['two']);
  });

  it('is not left out for failures with turns between, for what it refuses, or as the last of the list', async () => {
    const rest = rested();
    for (let i = 0; i < 4; i++) {
      await asked({ one: away('one') }, rest).end;
      await asked({}, rest).end;
      await expect(asked({ one: new Fault('model_refused', 'No.', false) }, rest).end).rejects.toThrow('No.');
    }
    const all = { one: away('one'), two: away('two'), three: away('three') };
    for (let i = 0; i < 4; i++) await expect(asked(all, rest).end).rejects.toThrow();
    const last = asked(all, rest);
    await expect(last.end).rejects.toThrow('Neither could anthropic/one, anthropic/two.');
    expect(last.order).toEqual(['three']);
  });
});
