import { describe, expect, it } from '@jest/globals';
import { callerHeader, forwarded, keyHeader, withoutKey } from '@sluice/proxy';

describe('headers that go to the other side', () => {
  it('are all but those of the one connection, in their order and spelling', () => {
    const own = ['Connection', 'Keep-Alive', 'Proxy-Authorization', 'Proxy-Authenticate', 'Proxy-Connection', 'TE'];
    const headers = [...own, 'Trailer', 'Transfer-Encoding', 'Upgrade'].flatMap((name) => [name, 'x']);
    expect(forwarded(['X-First', '1', ...headers, 'x-first', '2', 'ACCEPT', '*/*'])).toEqual([
      ...['X-First', '1', 'x-first', '2', 'ACCEPT', '*/*'],
    ]);
  });

  it('are none that the connection’s own header names', () => {
    const headers = [
      'Connection',
      'close, X-Hop',
      'connection',
      ' x-other ',
      'x-hop',
      '1',
      'X-Other',
      '2',
      'x-end',
      '3',
    ];
    expect(forwarded(headers)).toEqual(['x-end', '3']);
  });

  it('are never the one by which a caller says to Sluice who it is', () => {
    expect(forwarded([callerHeader.toUpperCase(), 'Bearer secret', 'Authorization', 'Bearer own'])).toEqual([
      ...['Authorization', 'Bearer own'],
    ]);
  });

  it('are without what is left out, and with what is added behind them', () => {
    const change = { without: (name: string) => name === 'host', added: { 'x-added': '1' } };
    expect(forwarded(['Host', 'a', 'X-B', 'b'], change)).toEqual(['X-B', 'b', 'x-added', '1']);
  });
});

describe('Sluice’s own key', () => {
  it('stands where its API has it', () => {
    expect(keyHeader('anthropic', 'k')).toEqual({ 'x-api-key': 'k' });
    expect(keyHeader('gemini', 'k')).toEqual({ 'x-goog-api-key': 'k' });
    expect(keyHeader('openai', 'k')).toEqual({ authorization: 'Bearer k' });
    expect(keyHeader('bedrock', 'k')).toEqual({ authorization: 'Bearer k' });
  });

  it('takes the place of one in the target', () => {
    expect(['/a', '/a?key=k', '/a?alt=sse&key=k', '/a?monkey=1&key=k&b=2'].map(withoutKey)).toEqual([
      ...['/a', '/a', '/a?alt=sse', '/a?monkey=1&b=2'],
    ]);
  });
});
