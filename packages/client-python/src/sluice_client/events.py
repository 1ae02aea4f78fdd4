"""What happens in a run: the events of its stream."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from .models import AskedApproval, EditedArguments, IncompleteAnswer, StepQuestion


class Event(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class Usage(Event):
    input_tokens: int
    output_tokens: int


class RunBegun(Event):
    """First: where the run is."""

    type: Literal["run"] = "run"
    request_id: str
    session_id: str
    since: int
    #: Opens this run where the gateway has no identity.
    token: str | None = None


class IterationBegun(Event):
    """An iteration begins, in this state, with the ids of the tools offered."""

    type: Literal["iteration"] = "iteration"
    iteration: int
    state: str
    tools: list[str]


class Text(Event):
    """The next piece of what the model says. Another `part` begins where it says something else instead: the last part is the answer."""

    type: Literal["text"] = "text"
    iteration: int
    part: int
    text: str


class Reasoning(Event):
    type: Literal["reasoning"] = "reasoning"
    iteration: int
    text: str


class ToolCalled(Event):
    """`arguments` as the model wrote them: JSON."""

    type: Literal["tool_call"] = "tool_call"
    iteration: int
    tool_call_id: str
    tool: str
    arguments: str


class ToolStarted(Event):
    """Seen by those alone who follow meanwhile, as `ToolProgress` is."""

    type: Literal["tool_started"] = "tool_started"
    tool_call_id: str


class ToolProgress(Event):
    """`progress` and `total` say how far the call has come, where the tool's MCP server does."""

    type: Literal["tool_progress"] = "tool_progress"
    tool_call_id: str
    text: str
    progress: float | None = None
    total: float | None = None


class ModelRetry(Event):
    """The model could not be had: why, how often so far, and when it is asked again, in milliseconds since the epoch."""

    type: Literal["model_retry"] = "model_retry"
    iteration: int
    attempt: int
    reason: str
    retry_at: int


class StepOutcome(Event):
    """`ok` or the tool error, its reason, the states before and after, what the tool's server asked meanwhile, the rule
    that refused the call, what an approver changed its arguments to, and what was found out to judge it."""

    outcome: str
    reason: str | None
    state_before: str
    state: str
    questions: list[StepQuestion] = []
    rule: str | None = None
    edited: EditedArguments | None = None
    facts: dict[str, str] = {}


class ToolResult(Event):
    """A preliminary one comes while other calls of the turn go on; `step` is of a result on record."""

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    result: Any
    is_error: bool
    is_preliminary: bool
    step: StepOutcome | None


class Decided(Event):
    """What the run’s strategy decided for a turn."""

    type: Literal["decision"] = "decision"
    decision: dict[str, Any]


class ApprovalRequested(Event):
    type: Literal["approval_requested"] = "approval_requested"
    approval: AskedApproval


class ApprovalOutcome(Event):
    """Whether a decision on a call counted; `not_taken` says why it did not."""

    approval_id: str
    request_id: str
    decision: str
    decided_by: str
    reason: str
    not_taken: str | None
    still_needed: int = 0
    approved_by: list[str] = []


class ApprovalDecided(Event):
    type: Literal["approval_outcome"] = "approval_outcome"
    outcome: ApprovalOutcome


class Escalation(Event):
    """Others may decide on a call too, since it has waited for a time."""

    approval_id: str
    request_id: str
    tool: str
    rule: str
    at: int


class ApprovalEscalated(Event):
    type: Literal["approval_escalated"] = "approval_escalated"
    escalation: Escalation


class IterationEnded(Event):
    type: Literal["iteration_end"] = "iteration_end"
    iteration: int
    usage: Usage


class UnknownData(Event):
    """Data of a name that this version of the client does not know."""

    type: Literal["data"] = "data"
    name: str
    data: Any


class EndError(Event):
    code: str
    message: str


class End(Event):
    """Last: the answer, or why there is none."""

    type: Literal["end"] = "end"
    answer: str | None
    error: EndError | None
    incomplete: IncompleteAnswer | None = None
    #: The answer as JSON text that fits the answer schema; None where none was given, and for an error.
    structured: str | None = None
    usage: Usage


class AgentCall(Event):
    """An agent’s run, and the call that it is: `name` is the tool, `caller_run_id` the run whose call it is."""

    run_id: str
    name: str
    call_id: str
    caller_run_id: str


class AgentEvent(Event):
    """What happens in the run of an agent that this run calls; its `End` is the end of the agent’s run."""

    type: Literal["agent"] = "agent"
    agent: AgentCall
    event: RunEvent


RunEvent = (
    RunBegun
    | IterationBegun
    | Text
    | Reasoning
    | ToolCalled
    | ToolStarted
    | ToolProgress
    | ModelRetry
    | ToolResult
    | Decided
    | ApprovalRequested
    | ApprovalDecided
    | ApprovalEscalated
    | IterationEnded
    | AgentEvent
    | UnknownData
    | End
)
AgentEvent.model_rebuild()
