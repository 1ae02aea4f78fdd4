"""Makes events of the chunks of a stream, over any number of connections."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from . import events, models
from .events import RunEvent

Chunk = dict[str, Any]

#: Codes with which a stream ends while the run goes on, so that it is read again.
_CUTS = ("slow", "stopping", "interrupted")


class Lines:
    """The lines of a stream, which end in CR, LF or both.

    Other characters that Unicode counts among line breaks are text of a line, and a model may write them.
    """

    def __init__(self) -> None:
        self._rest = ""

    def read(self, text: str) -> list[str]:
        """The lines that the next piece of the stream completes."""
        text = self._rest + text
        # It may be the first half of a CR LF.
        held = "\r" if text.endswith("\r") else ""
        *lines, rest = re.split(r"\r\n|\n|\r", text.removesuffix("\r"))
        self._rest = rest + held
        return lines


class IterationText:
    """The texts of one iteration.

    Where the stream is read again after a cut, the gateway sends each text in one piece from its beginning: what was shown is not shown
    again, what is new goes on where it ended, and another text is another part.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        #: How many of them earlier connections showed.
        self._earlier = 0
        #: What this connection repeats of a part so far; None where its text is new.
        self._repeated: str | None = None
        #: Whether new text goes on with the last part.
        self._goes_on = False

    def connected(self) -> None:
        """The next connection: what comes may repeat what was shown."""
        self._earlier = len(self._parts)

    def begin(self) -> None:
        """A part of text begins."""
        self._repeated = None if self._earlier == 0 else ""
        self._goes_on = False

    def add(self, text: str) -> list[tuple[int, str]]:
        """The pieces to show, each with its part."""
        if self._repeated is None:
            return self._show(text)
        again = self._repeated + text
        if any(part.startswith(again) for part in self._parts):
            self._repeated = again
            return []
        self._repeated = None
        last = self.last
        self._goes_on = again.startswith(last)
        return self._show(again[len(last) :] if self._goes_on else again)

    @property
    def last(self) -> str:
        return self._parts[-1] if self._parts else ""

    def _show(self, text: str) -> list[tuple[int, str]]:
        if text == "":
            return []
        if not self._goes_on:
            self._parts.append("")
        self._goes_on = True
        self._parts[-1] += text
        return [(len(self._parts) - 1, text)]


@dataclass
class _Open:
    kind: str
    tool_call_id: str = ""
    tool: str = ""
    arguments: str = ""


class RunReader:
    """What came before a cut is not reported again."""

    def __init__(self) -> None:
        self.place: events.RunBegun | None = None
        self.ended = False
        self._seen: set[str] = set()
        self._texts: dict[int, IterationText] = {}
        self._iteration = 0
        self._error: events.EndError | None = None
        self._incomplete: models.IncompleteAnswer | None = None
        self._structured: str | None = None
        #: Of the agents' runs, by their ids.
        self._agents: dict[str, RunReader] = {}
        #: The parts of this connection, in order.
        self._open: list[_Open] = []

    def connected(self) -> None:
        """The next connection begins."""
        self._open = []
        self._iteration = 0
        self._error = None
        self._incomplete = None
        self._structured = None
        for text in self._texts.values():
            text.connected()
        for agent in self._agents.values():
            agent.connected()

    def take(self, chunk: Chunk) -> list[RunEvent]:
        path = chunk.get("path") or []
        part = self._open[path[0]] if path and path[0] < len(self._open) else None
        match chunk.get("type"):
            case "part-start":
                return self._begin(chunk.get("part") or {})
            case "text-delta":
                return self._delta(part, chunk.get("textDelta") or "")
            case "tool-call-args-text-finish":
                return self._call(part)
            case "result":
                return self._result(part, chunk)
            case "step-start":
                self._iteration = int(str(chunk.get("messageId", "0")).rsplit("/", 1)[-1])
            case "step-finish":
                number = self._iteration
                return self._once(f"end {number}", events.IterationEnded(iteration=number, usage=_usage(chunk)))
            case "error":
                self._error = events.EndError(code=chunk.get("code") or "error", message=chunk.get("error") or "")
            case "message-finish":
                return self._end(chunk)
            case "data":
                return [event for each in chunk.get("data") or [] for event in self._of_agent(each)]
        return []

    def _of_agent(self, data: Any) -> list[RunEvent]:
        """Chunks of an agent's run come within those of the run that calls it."""
        if not isinstance(data, dict) or data.get("type") != "agent":
            return []
        agent = events.AgentCall.model_validate(data["agent"])
        reader = self._agents.setdefault(agent.run_id, RunReader())
        had = reader.ended
        told = reader.take(data["chunk"])
        return [events.AgentEvent(agent=agent, event=event) for event in told if event.type != "end" or not had]

    def _begin(self, part: dict[str, Any]) -> list[RunEvent]:
        kind = part.get("type") or "other"
        self._open.append(_Open(kind, part.get("toolCallId") or "", part.get("toolName") or ""))
        if kind == "text":
            self._text().begin()
        return self._data(part.get("name") or "", part.get("data")) if kind == "data" else []

    def _delta(self, part: _Open | None, text: str) -> list[RunEvent]:
        number = self._iteration
        if part is None:
            return []
        if part.kind == "tool-call":
            part.arguments += text
        if part.kind == "reasoning":
            return [events.Reasoning(iteration=number, text=text)]
        if part.kind != "text":
            return []
        return [events.Text(iteration=number, part=at, text=piece) for at, piece in self._text().add(text)]

    def _call(self, part: _Open | None) -> list[RunEvent]:
        if part is None or part.kind != "tool-call":
            return []
        call_id = part.tool_call_id
        call = events.ToolCalled(
            iteration=self._iteration, tool_call_id=call_id, tool=part.tool, arguments=part.arguments
        )
        return self._once(f"call {call_id}", call)

    def _result(self, part: _Open | None, chunk: Chunk) -> list[RunEvent]:
        if part is None or part.kind != "tool-call":
            return []
        call_id = part.tool_call_id
        is_early = chunk.get("isPreliminary") is True
        if is_early and f"result {call_id}" in self._seen:
            return []
        result = events.ToolResult(
            tool_call_id=call_id,
            result=chunk.get("result"),
            is_error=chunk.get("isError") is True,
            is_preliminary=is_early,
            step=chunk.get("artifact"),
        )
        return self._once(f"{'early' if is_early else 'result'} {call_id}", result)

    def _data(self, name: str, data: Any) -> list[RunEvent]:
        members: dict[str, Any] = data if isinstance(data, dict) else {}
        match name:
            case "run":
                self.place = events.RunBegun.model_validate({"type": "run", **members})
                return self._once("run", self.place)
            case "iteration":
                begun = events.IterationBegun.model_validate({"type": "iteration", **members})
                return self._once(f"iteration {begun.iteration}", begun)
            case "tool_call_start":
                return [events.ToolStarted(tool_call_id=str(members.get("toolCallId")))]
            case "tool_progress":
                text = str(members.get("text") or "")
                how_far = {name: members.get(name) for name in ("progress", "total")}
                return [events.ToolProgress(tool_call_id=str(members.get("toolCallId")), text=text, **how_far)]
            case "model_retry":
                return [events.ModelRetry.model_validate(members)]
            case "incomplete":
                self._incomplete = models.IncompleteAnswer.model_validate(members)
                return []
            case "structured":
                found = members.get("json")
                self._structured = found if isinstance(found, str) else None
                return []
            case "decision":
                return self._once(f"decision {members.get('iteration')}", events.Decided(decision=members))
            case "approval_requested":
                asked = events.ApprovalRequested.model_validate({"approval": members})
                return self._once(f"asked {asked.approval.approval_id}", asked)
            case "approval_outcome":
                outcome = events.ApprovalDecided.model_validate({"outcome": members})
                return self._once(f"outcome {json.dumps(members, sort_keys=True)}", outcome)
            case "approval_escalated":
                escalated = events.ApprovalEscalated.model_validate({"escalation": members})
                return self._once(f"escalated {json.dumps(members, sort_keys=True)}", escalated)
        return self._once(f"data {name} {json.dumps(data)}", events.UnknownData(name=name, data=data))

    def _end(self, chunk: Chunk) -> list[RunEvent]:
        error = self._error
        if error is not None and error.code in _CUTS:
            return []
        self.ended = True
        text = self._texts.get(max(self._texts, default=0))
        answer = (text.last if text is not None else "") if error is None else None
        beside = {"incomplete": self._incomplete, "structured": self._structured}
        return [events.End(answer=answer, error=error, usage=_usage(chunk), **beside)]

    def _text(self) -> IterationText:
        return self._texts.setdefault(self._iteration, IterationText())

    def _once(self, key: str, event: RunEvent) -> list[RunEvent]:
        if key in self._seen:
            return []
        self._seen.add(key)
        return [event]


def _usage(chunk: Chunk) -> events.Usage:
    usage = chunk.get("usage") or {}
    return events.Usage(input_tokens=usage.get("inputTokens", 0), output_tokens=usage.get("outputTokens", 0))


class EndOfStream(Exception):
    """The stream has said that nothing more comes."""


class ApprovalReader:
    """The calls that wait, each once, over any number of connections."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def connected(self) -> None:
        """The next connection: it begins with all that wait."""

    def take(self, chunk: Chunk) -> list[models.WaitingApproval]:
        """Those that a chunk of the stream tells for the first time."""
        new: list[models.WaitingApproval] = []
        for event in chunk["data"] if chunk.get("type") == "data" else []:
            if event.get("type") == "closed":
                self._told.discard(str(event.get("approval_id")))
            if event.get("type") != "waiting":
                continue
            listed = {key: value for key, value in event.items() if key != "type"}
            waiting = models.WaitingApproval.model_validate(listed)
            if waiting.approval.approval_id not in self._told:
                self._told.add(waiting.approval.approval_id)
                new.append(waiting)
        return new


def chunk_in(line: str) -> Chunk | None:
    """The chunk in a line of server-sent events; None where it has none."""
    if not line.startswith("data:"):
        return None
    data = line[len("data:") :].strip()
    if data == "[DONE]":
        raise EndOfStream
    chunk = json.loads(data)
    return chunk if isinstance(chunk, dict) else None
