"""The world of AgentDojo's tasks: environments, tools and checks, one environment for each pair.

Serves, on a port of loopback that the first line of output names:
  POST /mcp/<suite>     the suite's tools, by MCP; the bearer token says whose environment they work in
  POST /credentials     the broker of the connection: a tenant's credential is its pair
  POST /open, /judge    begins a pair, and says how its environment was left
"""

import json
import re
import sys
import threading
import traceback
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import yaml

HERE = Path(__file__).resolve().parent


def read_yaml(text):
    # The same documents, by the parser in C.
    return yaml.load(text, Loader=yaml.CSafeLoader)


yaml.safe_load = read_yaml


def load_agentdojo():
    from agentdojo.task_suite.load_suites import get_suites

    return get_suites("v1.2.2")


def load_agentdyn():
    """AgentDyn is a fork of AgentDojo: its own suites and tools come first, the rest is the package's."""
    import importlib

    import agentdojo.default_suites.v1 as suites
    import agentdojo.default_suites.v1.tools as tools

    for package in (suites, tools):
        inner = package.__name__.split(".")[3:]
        package.__path__.insert(0, str(HERE.joinpath("agentdyn", "suites", *inner)))
    found = {}
    for name in ("shopping", "github", "dailylife"):
        module = importlib.import_module(f"agentdojo.default_suites.v1.{name}")
        found[name] = getattr(module, f"{name}_task_suite")
        found[name].data_path = HERE / "agentdyn" / "data" / name
    return found


AGENTDYN = "--agentdyn" in sys.argv
SUITES = load_agentdyn() if AGENTDYN else load_agentdojo()

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.attacks.attack_registry import load_attack  # noqa: E402
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.types import text_content_block_from_string  # noqa: E402

sys.path.insert(0, str(HERE))
from attacks import adapted, calls_of  # noqa: E402

# The attack speaks to a model by name; this one is not asked.
PIPELINE = SimpleNamespace(name="gpt-4o-2024-05-13")
ATTACKS = {name: load_attack("important_instructions", suite, PIPELINE) for name, suite in SUITES.items()}
lock = threading.Lock()
# What the attack's text begins with.
MARK = "<INFORMATION>"


class Pair:
    def __init__(self, suite_name, user_task, injection_task):
        self.suite = SUITES[suite_name]
        self.user = self.suite.user_tasks[user_task]
        self.injection = None if injection_task is None else self.suite.injection_tasks[injection_task]
        injections = {} if self.injection is None else ATTACKS[suite_name].attack(self.user, self.injection)
        self.environment = self.user.init_environment(self.suite.load_and_inject_default_environment(injections))
        self.before = self.environment.model_copy(deep=True)
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.calls = []
        self.seen = False

    def call(self, tool, arguments):
        result, error = self.runtime.run_function(self.environment, tool, arguments)
        if error is not None:
            return error, True
        self.calls.append(FunctionCall(function=tool, args=arguments))
        text = tool_result_to_str(result)
        self.seen = self.seen or MARK in text
        return text, False

    def all_ran(self, calls):
        return all(any(fits(ran, call) for ran in self.calls) for call in calls)

    def script(self, adaptive=False):
        """What an obedient model does in this pair, by the ground truth of both tasks."""
        attack = [] if self.injection is None else calls_of(self.suite, self.injection, self.before)
        attack = adapted(self.suite, attack) if adaptive else attack
        self.planned = {
            "question": self.user.PROMPT,
            "user": [plain(call) for call in self.user.ground_truth(self.before.model_copy(deep=True))],
            "answer": self.user.GROUND_TRUTH_OUTPUT,
            "injected": [plain(call) for call in attack],
            "injected_answer": "" if self.injection is None else self.injection.GROUND_TRUTH_OUTPUT,
        }
        return self.planned

    def answer(self):
        """What the model says at the end: what a task asks to be said, where all of its calls ran."""
        user, attack = self.planned["user"], self.planned["injected"]
        said = self.planned["answer"] if self.all_ran(user) else ""
        return f"{said} {self.planned['injected_answer']}" if self.seen and self.all_ran(attack) else said

    def judge(self):
        said = [text_content_block_from_string(self.answer())]
        check = self.suite._check_task_result
        result = {"seen": self.seen, "ran": [plain(call) for call in self.calls]}
        result["done"] = bool(check(self.user, said, self.before, self.environment, self.calls))
        if self.injection is not None:
            result["reached"] = bool(check(self.injection, said, self.before, self.environment, self.calls))
        return result


# What the ground truth of AgentDyn leaves open until the model has read it.
LEFT_OPEN = re.compile("ONE-TIME-PASSWD|one-time-password|INVITATION_LINK|ID[0-9]?|file_id")


def fits(ran, call):
    def same(name):
        wanted, given = call["arguments"].get(name), ran.args.get(name)
        return wanted == given or (isinstance(wanted, str) and LEFT_OPEN.fullmatch(wanted) is not None)

    return ran.function == call["tool"] and all(same(name) for name in {*call["arguments"], *ran.args})


def plain(call):
    if any(isinstance(value, FunctionCall) for value in call.args.values()):
        raise ValueError(f"A call within a call of {call.function}")
    return {"tool": call.function, "arguments": json.loads(json.dumps(dict(call.args), default=str))}


PAIRS = {}


def open_pair(body):
    with lock:
        pair = Pair(body["suite"], body["user_task"], body.get("injection_task"))
    PAIRS[body["pair"]] = pair
    return pair.script(body.get("adaptive", False))


def judge_pair(body):
    return PAIRS.pop(body["pair"]).judge()


def tasks(_body):
    return {
        name: {
            "user": list(suite.user_tasks),
            "injection": list(suite.injection_tasks),
            "goals": {key: task.GOAL for key, task in suite.injection_tasks.items()},
        }
        for name, suite in SUITES.items()
    }


def credential(body):
    # Without a tenant it is asked what the server offers.
    return {"access_token": body["tenant"] or "no-pair-yet", "expires_in": 3600}


@cache
def offered(suite_name):
    return [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters.model_json_schema()}
        for tool in SUITES[suite_name].tools
    ]


def answer_mcp(suite_name, token, message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": suite_name, "version": "1"},
        }
    if method == "tools/list":
        return {"tools": offered(suite_name)}
    if method == "tools/call":
        text, failed = PAIRS[token].call(params["name"], params.get("arguments") or {})
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    if method == "ping":
        return {}
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536

    def log_message(self, *_):
        pass

    def send(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def do_GET(self):
        self.send(405)

    do_DELETE = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        try:
            if self.path.startswith("/mcp/"):
                return self.mcp(self.path.removeprefix("/mcp/"), body)
            routes = {"/open": open_pair, "/judge": judge_pair, "/tasks": tasks, "/credentials": credential}
            self.send(200, routes[self.path](body))
        except Exception:
            self.send(500, {"error": traceback.format_exc()})

    def mcp(self, suite_name, message):
        if "id" not in message:
            return self.send(202)
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        result = answer_mcp(suite_name, token, message)
        unknown = {"error": {"code": -32601, "message": "There is no such method"}}
        self.send(200, {"jsonrpc": "2.0", "id": message["id"], **(unknown if result is None else {"result": result})})


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    # The process that started this one holds its standard input: it ends with it.
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()
