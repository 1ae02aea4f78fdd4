import { describe, expect, it } from '@jest/globals';
import { Fault, type ModelSettings, type ModelTurn } from '@sluice/core';
import { askInOrder } from '@sluice/model';

const settings = (name: string): ModelSettings => ({
  ...{ provider: 'anthropic', name, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
});
const models = [settings('one'), settings('two'), settings('three')];
const turn: ModelTurn = { thought: '', calls: [], answer: 'So.', inputTokens: 1, outputTokens: 1 };
const away = (name: string | null) => new Fault('model_unreachable', `${String(name)} asks to wait (429).`, true);

function asked(away: Readonly<Record<string, Error>>) {
  const order: (string | null)[] = [];
  const told: (string | null)[] = [];
  const end = askInOrder(
    models,
    ({ name }) => {
      order.push(name);
      const fault = away[name ?? ''];
      return fault === undefined ? Promise.resolve(turn) : Promise.reject(fault);
    },
    ({ name }) => told.push(name),
  );
  return { end, order, told };
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
