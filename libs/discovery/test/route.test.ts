import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import type { Pipes } from '@sluice/core';
import { routeOf } from '@sluice/discovery';
import { parse } from 'yaml';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const pipes = (text: string): Pipes | undefined =>
  compileConfiguration({ tool: {}, pipes: parse(text) as object }, sampleInputs).configuration?.pipes;

const discovery = '{ tool_discovery: { enabled: true, strategy: relevance } }';
const both = '{ tool_discovery: { enabled: true, strategy: relevance }, tool_output: { enabled: true } }';

describe('the choice of a pipe', () => {
  it('gives outputs of tools to their own pipe where it is enabled (DS-07, DS-10, XS-25)', () => {
    expect(routeOf(pipes(both), { hasToolOutputs: true, toolCount: 9 })).toEqual({
      pipe: 'tool_output',
      bypass: 'tool_output',
    });
  });

  it('gives tools to discovery, also beside outputs whose pipe is off (DS-08, DS-11)', () => {
    expect(routeOf(pipes(discovery), { hasToolOutputs: true, toolCount: 9 }).pipe).toBe('tool_discovery');
    expect(routeOf(pipes(both), { hasToolOutputs: false, toolCount: 9 }).pipe).toBe('tool_discovery');
  });

  it('gives everything else to none, and says why (DS-09, DS-13, DS-137, DS-138)', () => {
    const request = { hasToolOutputs: true, toolCount: 9 };
    expect(routeOf(undefined, request)).toEqual({ pipe: null, bypass: 'disabled' });
    expect(routeOf(pipes('{ tool_discovery: { strategy: relevance } }'), request)).toEqual({
      pipe: null,
      bypass: 'disabled',
    });
    expect(routeOf(pipes(discovery), { hasToolOutputs: false, toolCount: 0 })).toEqual({
      pipe: null,
      bypass: 'no_tools',
    });
  });
});
