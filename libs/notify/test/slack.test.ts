import { describe, expect, it } from '@jest/globals';
import { buttonIn, dialogIn, endedMessage, isSignedBySlack, reasonView, waitingMessage } from '@sluice/notify';
import { blockProblems } from '../../../test/notifications/slack-forms.js';

/** The example of Slack’s documentation, “Verifying requests from Slack”. */
const documented = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  timestamp: '1531420618',
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
};
const at = Number(documented.timestamp) * 1_000;

describe('the signature of Slack', () => {
  it('is that of its documentation, for five minutes', () => {
    const { secret, ...request } = documented;
    expect(isSignedBySlack(request, secret, at)).toBe(true);
    expect(isSignedBySlack(request, secret, at + 299_000)).toBe(true);
    expect(isSignedBySlack(request, secret, at + 301_000)).toBe(false);
    expect(isSignedBySlack(request, secret, at - 301_000)).toBe(false);
  });

  it('is of this body, this time and this secret', () => {
    const { secret, ...request } = documented;
    expect(isSignedBySlack({ ...request, body: `${request.body}&x=1` }, secret, at)).toBe(false);
    expect(isSignedBySlack({ ...request, timestamp: '1531420619' }, secret, at)).toBe(false);
    expect(isSignedBySlack(request, 'another', at)).toBe(false);
    for (const signature of [undefined, '', 'v0=', request.signature.replace('v0', 'v1')])
      expect(isSignedBySlack({ ...request, signature }, secret, at)).toBe(false);
    expect(isSignedBySlack({ ...request, timestamp: '0x5b47c2ca' }, secret, at)).toBe(false);
  });
});

const value = {
  ...{ channel: 'ops', approvalId: 'a-1', requestId: 'r', sessionId: 's', argumentsHash: 'f'.repeat(64) },
  ...{ partition: 0, offset: 7 },
};
const approval = {
  ...{ tool: 'send-money', description: 'Sends money', effect: 'external_side_effect', question: 'Pay <!channel>?' },
  ...{ arguments: { amount: 40 }, askedBecause: 'The rule "large" asks.', requestedBy: 'user:ann', onBehalfOf: null },
  ...{
    expiresAt: at,
    approvers: ['*'],
    stillNeeded: 1,
    approvedBy: [],
    isEscalated: false,
    link: 'https://x.example/approvals/a-1',
  },
};
const actionsOf = (blocks: readonly object[]): string => JSON.stringify(blocks.filter((one) => 'elements' in one));

describe('a message about an approval', () => {
  it('holds to the forms of Block Kit, however long its texts are, and reads no markup in them', () => {
    const long = 'x'.repeat(10_000);
    const longest = {
      ...approval,
      tool: long,
      description: long,
      question: long,
      askedBecause: long,
      requestedBy: long,
    };
    const many = {
      ...longest,
      approvers: Array.from({ length: 300 }, (_, n) => `user:${'y'.repeat(250)}${String(n)}`),
    };
    for (const one of [approval, longest, many]) {
      const waiting = waitingMessage(one, value);
      expect(blockProblems(waiting)).toEqual([]);
      expect(JSON.stringify(waiting.blocks)).not.toContain('mrkdwn');
      const ended = { decision: 'refuse', decidedBy: 'user:bob', decidedThrough: 'service:slack', reason: long };
      expect(blockProblems(endedMessage(one, ended))).toEqual([]);
    }
    const half = { ...many, approvedBy: Array.from({ length: 30 }, () => `user:<!here>${'z'.repeat(250)}`) };
    expect(blockProblems(waitingMessage(half, value))).toEqual([]);
    expect(waitingMessage(half, value).text).toMatch(/: 30 of 31 approved, by user:&lt;!here&gt;/);
    expect(waitingMessage({ ...approval, tool: '<!here>' }, value).text).toContain('&lt;!here&gt;');
    expect(blockProblems({ view: reasonView('approve', long, JSON.stringify(value)) })).toEqual([]);
  });

  it('has no button to approve what it does not show whole, and none at all once it ended', () => {
    expect(actionsOf(waitingMessage(approval, value).blocks)).toMatch(/sluice_approve.*sluice_refuse/);
    const long = waitingMessage({ ...approval, arguments: { text: 'x'.repeat(3_000) } }, value);
    expect(actionsOf(long.blocks)).not.toContain('sluice_approve');
    expect(actionsOf(long.blocks)).toContain('sluice_refuse');
    expect(actionsOf(waitingMessage({ ...approval, arguments: null }, value).blocks)).not.toContain('sluice_approve');
    expect(actionsOf(waitingMessage(approval, null).blocks)).not.toContain('sluice_refuse');
    const ended = endedMessage(approval, { decision: 'expire', decidedBy: '', decidedThrough: null, reason: '' });
    expect(JSON.stringify(ended)).not.toContain('sluice_refuse');
    expect(ended.text).toBe('Expired: send-money.');
  });

  it('has buttons and dialogs that say what they decide on', () => {
    const [actions] = waitingMessage(approval, value).blocks.filter((one) => one['type'] === 'actions');
    const [button] = actions?.['elements'] as { value: string }[];
    expect(buttonIn(button?.value)).toEqual(value);
    const view = reasonView('refuse', 'send-money', button?.value ?? '');
    expect(dialogIn(view['private_metadata'])).toEqual({ decision: 'refuse', value });
    for (const bad of [undefined, '', '[]', '{}', '["a"]', JSON.stringify(['a', 'b', 'c', 'd', 'e', -1, 0]), 7])
      expect(buttonIn(bad)).toBeNull();
    expect(dialogIn(JSON.stringify({ decision: 'run', value: button?.value }))).toBeNull();
  });
});
