"""Does what a contract case says with the Python client: a line of JSON in, a line of JSON out. Its argument is `sync` or `async`."""

import asyncio
import base64
import json
import sys
import time
import traceback
from typing import Any

from sluice_client import AsyncSluice, ProblemError, Sluice, SluiceError, _calls
from sluice_client.events import RunBegun
from sluice_client.models import AskedApproval, ListedRun


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "model_dump"):
        # An event has all its members; an answer those that the gateway sent.
        is_event = type(value).__module__ == "sluice_client.events"
        return value.model_dump(mode="json", exclude_unset=not is_event)
    return [plain(one) for one in value] if isinstance(value, list) else value


def run_of(given: Any) -> Any:
    """A reference as a user of the client has it."""
    if isinstance(given, str):
        return given
    if given.get("type") == "run":
        return RunBegun.model_validate(given)
    if "location" in given:
        return _calls._RUNS.validate_python(given)
    return ListedRun.model_construct(**given)


def leaves(event: Any, args: dict[str, Any]) -> bool:
    return event.type == args.get("leave")


def settings(given: dict[str, Any]) -> dict[str, Any]:
    options = {"token": given["token"]}
    if "retries" in given:
        options["retries"] = given["retries"]
    if "longest_retry_after_ms" in given:
        options["longest_retry_after"] = given["longest_retry_after_ms"] / 1_000
    return options


def seconds(args: dict[str, Any]) -> dict[str, float]:
    return {"timeout": args["timeout_ms"] / 1_000} if "timeout_ms" in args else {}


def simple(sluice: Any, operation: str, args: dict[str, Any]) -> Any:
    """What both clients do in one call: the result, or what is to be awaited."""
    match operation:
        case "create_run":
            return sluice.runs.create(args["request"], idempotency_key=args.get("key"))
        case "ask_run":
            return sluice.runs.ask(args["request"])
        case "upload":
            return sluice.runs.upload(base64.b64decode(args["file"]), name=args.get("name"))
        case "list_content":
            return sluice.runs.list_content(args["id"])
        case "read_content":
            return sluice.runs.content(args["id"], args["hash"])
        case "get_run":
            return sluice.runs.get(run_of(args["run"]))
        case "wait_run":
            return sluice.runs.wait(run_of(args["run"]), **seconds(args))
        case "cancel_run":
            return sluice.runs.cancel(run_of(args["run"]), reason=args.get("reason"), **seconds(args))
        case "list_steps":
            return sluice.sessions.steps(args["session_id"])
        case "get_approval":
            return sluice.approvals.get(args["id"])
        case "decide":
            approval = AskedApproval.model_validate(args["approval"])
            given = {"reason": args.get("reason"), "arguments": args.get("arguments"), "wait": args.get("wait_seconds", 0)}
            return sluice.approvals.decide(approval, args["decision"], **given)
        case "decide_all":
            return sluice.approvals.decide_all({"decisions": [{**one, "decision": args["decision"]} for one in args["approvals"]]})
        case "give_standing":
            until = round((time.time() + 3_600) * 1_000)
            return sluice.approvals.give_standing({**args["standing"], "until": until})
        case "revoke_standing":
            return sluice.approvals.revoke_standing(args["id"], {"reason": args["reason"]})
        case "list_groups":
            return sluice.groups.list()
        case "get_group":
            return sluice.groups.get(args["name"])
        case "recommend_groups":
            return sluice.groups.recommend(args["question"])
        case "list_states":
            return sluice.states.list()
        case "state_diagram":
            return sluice.states.diagram()
        case "list_tools":
            return sluice.tools.list(**args["query"])
        case "get_specification":
            return sluice.tools.specification(args["hash"])
        case "try_toolset":
            return sluice.tools.try_toolset(args["request"])
        case "audit_csv":
            return sluice.audit.csv(**args["query"])
        case "get_dead_letter":
            return sluice.dead_letters.get(args["id"])
        case "redrive":
            return sluice.dead_letters.redrive(args["id"])
    return None


def listed(sluice: Any, operation: str, args: dict[str, Any]) -> Any:
    match operation:
        case "list_runs":
            return sluice.runs.list(**args["query"])
        case "list_sessions":
            return sluice.sessions.list()
        case "list_approvals":
            return sluice.approvals.list()
        case "list_audit":
            return sluice.audit.list(**args["query"])
        case "list_dead_letters":
            return sluice.dead_letters.list(**args["query"])
    return None


def streamed(sluice: Any, operation: str, args: dict[str, Any]) -> Any:
    match operation:
        case "stream_run":
            return sluice.runs.stream(args["request"])
        case "follow_run":
            return sluice.runs.follow(run_of(args["run"]))
    raise ValueError(f"There is no operation {operation}.")


def of_session(found: Any, args: dict[str, Any]) -> Any:
    return [one for one in found.standing_approvals if one.session_id == args["session_id"]]


def blocking(given: dict[str, Any], operation: str, args: dict[str, Any]) -> Any:
    with Sluice(given["url"], **settings(given)) as sluice:
        result = simple(sluice, operation, args)
        if result is not None:
            return result
        pages = listed(sluice, operation, args)
        if pages is not None:
            return pages.take(args["take"]) if "take" in args else list(pages)
        if operation == "list_pages":
            return list(sluice.runs.list(**args["query"]).pages())
        if operation == "list_standing":
            return of_session(sluice.approvals.standing(), args)
        if operation == "stream_approvals":
            waiting = sluice.approvals.stream()
            return next(one for one in waiting if one.approval.session_id == args["session_id"])
        events = []
        for event in streamed(sluice, operation, args):
            events.append(event)
            if leaves(event, args):
                break
        return events


async def awaiting(given: dict[str, Any], operation: str, args: dict[str, Any]) -> Any:
    async with AsyncSluice(given["url"], **settings(given)) as sluice:
        result = simple(sluice, operation, args)
        if result is not None:
            return await result
        pages = listed(sluice, operation, args)
        if pages is not None:
            return await pages.take(args["take"]) if "take" in args else [one async for one in pages]
        if operation == "list_pages":
            return [page async for page in sluice.runs.list(**args["query"]).pages()]
        if operation == "list_standing":
            return of_session(await sluice.approvals.standing(), args)
        if operation == "stream_approvals":
            async for one in sluice.approvals.stream():
                if one.approval.session_id == args["session_id"]:
                    return one
        events = []
        async for event in streamed(sluice, operation, args):
            events.append(event)
            if leaves(event, args):
                break
        return events


def outcome(line: str, is_async: bool) -> dict[str, Any]:
    asked = json.loads(line)
    given, operation, args = asked["settings"], asked["operation"], asked["args"]
    try:
        if is_async:
            result = asyncio.run(awaiting(given, operation, args))
        else:
            result = blocking(given, operation, args)
        return {"result": plain(result)}
    except ProblemError as error:
        after = None if error.retry_after is None else round(error.retry_after * 1_000)
        said = {"message": str(error), "status": error.status, "code": error.code, "retry_after_ms": after}
        return {"error": {"name": type(error).__name__, **said}}
    except SluiceError as error:
        location = {"location": error.location} if hasattr(error, "location") else {}
        return {"error": {"name": type(error).__name__, "message": str(error), **location}}
    except Exception as error:  # noqa: BLE001, it fails the step
        return {"error": {"name": type(error).__name__, "message": traceback.format_exc()}}


for line in sys.stdin:
    print(json.dumps(outcome(line, sys.argv[1] == "async")), flush=True)
