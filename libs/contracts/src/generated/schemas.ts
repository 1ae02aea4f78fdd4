// Generated from schemas/ by `npm run generate`. Do not edit.

export const schemas = {
  "AccessDenial": {
    "type": "record",
    "name": "AccessDenial",
    "namespace": "sluice",
    "doc": "A request that the gateway refused because its caller may not make it, so that nothing else of it is on the log.",
    "fields": [
      {
        "name": "route",
        "type": "string",
        "doc": "The method and the route, as POST /v1/runs."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The id that the request named or got; empty for a listing. It was not taken.",
        "default": ""
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The session that the request named or got; empty for a listing.",
        "default": ""
      },
      {
        "name": "tenant_id",
        "type": "string",
        "doc": "The caller’s tenant, as its credential says."
      },
      {
        "name": "actor_id",
        "type": "string",
        "doc": "The caller."
      },
      {
        "name": "subject_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "On whose behalf; null where it is the caller’s own.",
        "default": null
      },
      {
        "name": "permitted_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "What the caller may ask for; the first 100.",
        "default": []
      },
      {
        "name": "requested_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "What the request asked for, after the default; the first 100.",
        "default": []
      },
      {
        "name": "refused_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Of these, those that the caller may not ask for; the first 100.",
        "default": []
      },
      {
        "name": "state",
        "type": "string",
        "doc": "The state that the request asked for, after the default.",
        "default": ""
      },
      {
        "name": "code",
        "type": "string",
        "doc": "The error code that the caller got."
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "What the caller read."
      },
      {
        "name": "kind",
        "type": "string",
        "doc": "groups; escalation, where it asked for every group, or in another user’s name; operator, where the route is for operators.",
        "default": "groups"
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration of the decision.",
        "default": ""
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      }
    ]
  },
  "AgentProgress": {
    "type": "record",
    "name": "AgentProgress",
    "namespace": "sluice",
    "doc": "Thoughts, text and tool progress as they happen: best effort, may be lost or seen twice.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "From 1."
      },
      {
        "name": "kind",
        "type": "string",
        "doc": "thinking, text, tool_call_start, tool_call_result, tool_progress, tool_log, tool_question, model_retry or, of no run and under the key mcp-servers, server_changed. A reader skips kinds that it does not know."
      },
      {
        "name": "tool_call_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "The call it belongs to.",
        "default": null
      },
      {
        "name": "tool",
        "type": [
          "null",
          "string"
        ],
        "doc": "The tool's configuration key.",
        "default": null
      },
      {
        "name": "text",
        "type": "string",
        "doc": "Text, validated arguments, the redacted result, or why the model is asked again.",
        "default": ""
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "tenant_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "For which tenant the run is.",
        "default": null
      },
      {
        "name": "attempt",
        "type": "string",
        "doc": "For text: names one reply of the model. Another name is the model asked again, and its text starts over. Empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "sequence",
        "type": "int",
        "doc": "For text: the number of the piece in its attempt, from 0. For model_retry: how often the model was asked in vain.",
        "default": 0
      },
      {
        "name": "retry_at",
        "type": [
          "null",
          "long"
        ],
        "doc": "For model_retry: when it is asked again, in milliseconds since the epoch; null for all others.",
        "default": null
      },
      {
        "name": "notice",
        "type": [
          "null",
          "string"
        ],
        "doc": "What the tool's MCP server says while the call runs, as JSON. For tool_progress its numbers: progress and total. For tool_log: level, logger and data. For tool_question the name of the question, which doors look up. For server_changed: server, and the list that is another one now, or the uri of the resource that changed. Null where a tool reports a text alone, and for all other kinds.",
        "default": null
      }
    ]
  },
  "AgentRequest": {
    "type": "record",
    "name": "AgentRequest",
    "namespace": "sluice",
    "doc": "What an upstream system asks: a question, and what may be used to answer it.",
    "fields": [
      {
        "name": "question",
        "type": "string",
        "doc": "The user's query."
      },
      {
        "name": "state",
        "type": [
          "null",
          "string"
        ],
        "doc": "The state to start in; absent, null or empty means `undefined`.",
        "default": null
      },
      {
        "name": "group",
        "type": [
          "null",
          {
            "type": "array",
            "items": "string"
          }
        ],
        "doc": "The tool groups allowed for this request; absent or null means `default`, an empty list means no tools, `*` means all.",
        "default": null
      },
      {
        "name": "tool_ids",
        "type": [
          "null",
          {
            "type": "array",
            "items": "string"
          }
        ],
        "doc": "The ids of the tools that this run may use, of those it would be offered; absent or null means all of these, an empty list means none.",
        "default": null
      },
      {
        "name": "history",
        "type": {
          "type": "array",
          "items": "AgentStep"
        },
        "doc": "Steps taken so far.",
        "default": []
      },
      {
        "name": "connections",
        "type": [
          "null",
          {
            "type": "array",
            "items": "string"
          }
        ],
        "doc": "The ids of the connections that tools may use for this request, of those its sender may use; `*` means all of these. Absent, null or empty means none.",
        "default": null
      },
      {
        "name": "request_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "Names the run; taken once. Absent: derived from the record's place on the log.",
        "default": null
      },
      {
        "name": "session_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "Keys every record of the run. Absent: the record's key, else the request_id.",
        "default": null
      },
      {
        "name": "max_iterations",
        "type": [
          "null",
          "int"
        ],
        "doc": "Fewer iterations than the configuration allows.",
        "default": null
      },
      {
        "name": "deadline",
        "type": [
          "null",
          "long"
        ],
        "doc": "When the run must have ended, milliseconds since the epoch.",
        "default": null
      },
      {
        "name": "user_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "Who the sender says asks. Never believed: identity comes from the credential, and another one than that is refused.",
        "default": null
      },
      {
        "name": "tool_choice",
        "type": [
          "null",
          "string"
        ],
        "doc": "Whether the model must call a tool: `auto`, `none` (it calls none in the whole run), `required` (it calls one in its first turn), or the key or id of the offered tool that it calls in its first turn. Absent, null or empty means `auto`.",
        "default": null
      },
      {
        "name": "call",
        "type": [
          "null",
          "DirectCall"
        ],
        "doc": "The one call that the run makes, without asking a model; its result is the answer. Absent or null means that the model is asked.",
        "default": null
      },
      {
        "name": "strategy",
        "type": [
          "null",
          "string"
        ],
        "doc": "How the run comes to its answer, of the strategies that the configuration lets requests choose; absent, null or empty means the configuration's own.",
        "default": null
      },
      {
        "name": "content",
        "type": [
          "null",
          {
            "type": "array",
            "items": "StepContent"
          }
        ],
        "doc": "Images and files of the question, which stand in the content store as content of this run; absent or null means none.",
        "default": null
      },
      {
        "name": "conversation",
        "type": [
          "null",
          {
            "type": "array",
            "items": "ConversationMessage"
          }
        ],
        "doc": "What the client says was said before the question, the oldest first. The model reads it as the client's words, never as steps or answers of Sluice; absent or null means none.",
        "default": null
      },
      {
        "name": "agent",
        "type": [
          "null",
          "string"
        ],
        "doc": "The name of the configuration's agent that is asked; absent, null or empty means `default`.",
        "default": null
      },
      {
        "name": "client_tools",
        "type": [
          "null",
          "string"
        ],
        "doc": "Tools that the client runs itself, as JSON text that a door wrote; the run waits for their results. Absent or null means none.",
        "default": null
      },
      {
        "name": "answer_schema",
        "type": [
          "null",
          "string"
        ],
        "doc": "A JSON Schema, as JSON text, that the answer has to fit; absent, null or empty means that of the agent, or none.",
        "default": null
      },
      {
        "name": "sampling",
        "type": [
          "null",
          "Sampling"
        ],
        "doc": "How the run's models are to write their turns; absent or null means as the configuration says.",
        "default": null
      }
    ]
  },
  "AgentResponse": {
    "type": "record",
    "name": "AgentResponse",
    "namespace": "sluice",
    "doc": "The one end of a run.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "kind",
        "type": "string",
        "doc": "`answer` or `error`."
      },
      {
        "name": "answer",
        "type": [
          "null",
          "string"
        ],
        "doc": "The answer.",
        "default": null
      },
      {
        "name": "error",
        "type": [
          "null",
          "RunError"
        ],
        "doc": "Why there is none.",
        "default": null
      },
      {
        "name": "question",
        "type": "string",
        "doc": "The user's query.",
        "default": ""
      },
      {
        "name": "state",
        "type": "string",
        "doc": "The state at the end.",
        "default": "undefined"
      },
      {
        "name": "history",
        "type": {
          "type": "array",
          "items": "AgentStep"
        },
        "doc": "All steps; empty for a request that never began.",
        "default": []
      },
      {
        "name": "run",
        "type": [
          "null",
          "Run"
        ],
        "doc": "The run, null for a request that never began.",
        "default": null
      },
      {
        "name": "iterations",
        "type": "int",
        "doc": "Iterations begun.",
        "default": 0
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration of the last decision.",
        "default": ""
      },
      {
        "name": "ended_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "tenant_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "For which tenant, where there is no `run` to say it; null where there is one, and where no credential was verified.",
        "default": null
      },
      {
        "name": "model",
        "type": [
          "null",
          "TurnModel"
        ],
        "doc": "The model that gave the answer, and what it was asked; null where no model ended the run, or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "decision",
        "type": [
          "null",
          "StrategyDecision"
        ],
        "doc": "What the run's strategy decided for the turn; null where it is `react`, where no turn ended the run, or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "incomplete",
        "type": [
          "null",
          "IncompleteAnswer"
        ],
        "doc": "Why the answer is not a whole one; null for a whole answer, for an error, or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "budgets",
        "type": {
          "type": "array",
          "items": "BudgetState"
        },
        "doc": "What stood in each budget with a span where one of them ended the run; else empty.",
        "default": []
      },
      {
        "name": "structured",
        "type": [
          "null",
          "string"
        ],
        "doc": "The answer as JSON text that fits the answer schema; null where there is none, for an error, or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "agent",
        "type": [
          "null",
          "string"
        ],
        "doc": "The agent that the request asked; null for the default agent, for a request that asks none, for a run that another one called (`run.parent` names its tool), or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "record_signature",
        "type": [
          "null",
          "string"
        ],
        "doc": "The signature of the service that ended the run over the whole record but for this; null where an earlier version wrote it.",
        "default": null
      }
    ]
  },
  "AgentRun": {
    "type": "record",
    "name": "AgentRun",
    "namespace": "sluice",
    "doc": "The run that a call of an agent tool was.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "Names it."
      },
      {
        "name": "input_tokens",
        "type": "long",
        "doc": "Tokens the model read in it.",
        "default": 0
      },
      {
        "name": "output_tokens",
        "type": "long",
        "doc": "Tokens the model wrote in it.",
        "default": 0
      },
      {
        "name": "definition_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "The `definition_tokens` of the run at its end.",
        "default": null
      },
      {
        "name": "result_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "Its `result_tokens`.",
        "default": null
      },
      {
        "name": "other_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "Its `other_tokens`.",
        "default": null
      },
      {
        "name": "other_models",
        "type": [
          "null",
          "OtherModels"
        ],
        "doc": "Those of its tokens that another model took than the one that the calling run asks first, where that has a price; null where there are none.",
        "default": null
      }
    ]
  },
  "AgentStep": {
    "type": "record",
    "name": "AgentStep",
    "namespace": "sluice",
    "doc": "One step of a run: a thought, a tool call and its outcome. What a history holds.",
    "fields": [
      {
        "name": "thought",
        "type": "string",
        "doc": "Why the model acted so.",
        "default": ""
      },
      {
        "name": "action",
        "type": "string",
        "doc": "The tool's configuration key, or what the model wrote if no tool has that name.",
        "default": ""
      },
      {
        "name": "arguments",
        "type": "string",
        "doc": "The arguments as the model wrote them.",
        "default": ""
      },
      {
        "name": "observation",
        "type": "string",
        "doc": "The redacted result as JSON text (a string as it is), or the safe error message.",
        "default": ""
      },
      {
        "name": "outcome",
        "type": "string",
        "doc": "`ok`, or the tool error code.",
        "default": "ok"
      },
      {
        "name": "reason",
        "type": [
          "null",
          "string"
        ],
        "doc": "The finer reason of a failed call.",
        "default": null
      },
      {
        "name": "state_before",
        "type": "string",
        "doc": "The state the call was checked against.",
        "default": "undefined"
      },
      {
        "name": "state",
        "type": "string",
        "doc": "The state after the step.",
        "default": "undefined"
      },
      {
        "name": "tool_call_id",
        "type": "string",
        "doc": "The id of the call, the same from start to result.",
        "default": ""
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "The iteration the step belongs to, from 1; 0 for a step that an upstream system brought along.",
        "default": 0
      },
      {
        "name": "index",
        "type": "int",
        "doc": "The place of the call in its turn, from 0.",
        "default": 0
      },
      {
        "name": "started_at",
        "type": "long",
        "doc": "Milliseconds since the epoch.",
        "default": 0
      },
      {
        "name": "ended_at",
        "type": "long",
        "doc": "Milliseconds since the epoch.",
        "default": 0
      },
      {
        "name": "result_hash",
        "type": [
          "null",
          "string"
        ],
        "doc": "A keyed hash of the result before it was redacted (docs/audit.md); null in a history, and where no result came.",
        "default": null
      },
      {
        "name": "agent_run",
        "type": [
          "null",
          "AgentRun"
        ],
        "doc": "The run that the call was, where its tool is an agent; else null.",
        "default": null
      },
      {
        "name": "provider_data",
        "type": [
          "null",
          "string"
        ],
        "doc": "What the model's provider gets back with the call, as JSON text; in the history that a run goes on with, and null everywhere else.",
        "default": null
      },
      {
        "name": "cached_at",
        "type": [
          "null",
          "long"
        ],
        "doc": "When the tool gave the result to an equal call, milliseconds since the epoch, where it was not run for this one; else null, and null in a history.",
        "default": null
      },
      {
        "name": "documentation",
        "type": [
          "null",
          "string"
        ],
        "doc": "On the first use of a tool that the model was sent with its short description: `read` if its page had been read before, else `unread`. Null on every other step, and in a history.",
        "default": null
      },
      {
        "name": "content",
        "type": {
          "type": "array",
          "items": "StepContent"
        },
        "doc": "What of the result stands in the content store; empty where everything stands in the observation. In a history the images, sounds and files alone, which a model may be given.",
        "default": []
      },
      {
        "name": "questions",
        "type": {
          "type": "array",
          "items": "StepQuestion"
        },
        "doc": "What the MCP server of the tool asked in the middle of the call; empty in a history.",
        "default": []
      },
      {
        "name": "rule",
        "type": [
          "null",
          "string"
        ],
        "doc": "The rule of the configuration that refused the call; null where none did, and in a history.",
        "default": null
      },
      {
        "name": "facts",
        "type": {
          "type": "map",
          "values": "string"
        },
        "doc": "What was found out beside the record to decide about the call, by name, so that it can be decided again; empty in a history.",
        "default": {}
      },
      {
        "name": "edited",
        "type": [
          "null",
          "EditedArguments"
        ],
        "doc": "What an approver changed the arguments to, with which the call was made; null where it was made as the model wrote it.",
        "default": null
      }
    ]
  },
  "AgentStepResult": {
    "type": "record",
    "name": "AgentStepResult",
    "namespace": "sluice",
    "doc": "What the executor made of a turn: its steps, and the request as it goes on.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "From 1."
      },
      {
        "name": "steps",
        "type": {
          "type": "array",
          "items": "AgentStep"
        },
        "doc": "One for each call, refusals included."
      },
      {
        "name": "next",
        "type": "AgentRequest",
        "doc": "The request for the next iteration: new state, longer history."
      },
      {
        "name": "run",
        "type": "Run",
        "doc": "The run so far."
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration the calls were run under."
      },
      {
        "name": "signature",
        "type": [
          "null",
          "string"
        ],
        "doc": "The executor's signature over how it goes on.",
        "default": null
      },
      {
        "name": "in_force_version",
        "type": "string",
        "doc": "The configuration then in force, which may only deny; empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "record_signature",
        "type": [
          "null",
          "string"
        ],
        "doc": "The executor's signature over the whole record but for this, `signature` included; that of its key for calls where `call` is set; null where an earlier version wrote it, or where the filter takes a turn back.",
        "default": null
      },
      {
        "name": "list",
        "type": [
          "null",
          "OfferedList"
        ],
        "doc": "What the turn was offered, so that an iteration that is offered the same does not name it again.",
        "default": null
      },
      {
        "name": "call",
        "type": [
          "null",
          "CallDecision"
        ],
        "doc": "What was decided about the one call of a run without a model, which ends with it; null for every other turn.",
        "default": null
      }
    ]
  },
  "Approval": {
    "type": "record",
    "name": "Approval",
    "namespace": "sluice",
    "doc": "An event of the approvals topic: exactly one member is set.",
    "fields": [
      {
        "name": "requested",
        "type": [
          "null",
          "ApprovalRequested"
        ],
        "doc": "A call waits.",
        "default": null
      },
      {
        "name": "decided",
        "type": [
          "null",
          "ApprovalDecided"
        ],
        "doc": "It was decided on.",
        "default": null
      },
      {
        "name": "outcome",
        "type": [
          "null",
          "ApprovalOutcome"
        ],
        "doc": "Its outcome.",
        "default": null
      },
      {
        "name": "escalated",
        "type": [
          "null",
          "ApprovalEscalated"
        ],
        "doc": "Others may decide on it from now on.",
        "default": null
      },
      {
        "name": "standing",
        "type": [
          "null",
          "StandingApproval"
        ],
        "doc": "Calls to come are approved within bounds, or no longer are.",
        "default": null
      }
    ]
  },
  "ApprovalDecided": {
    "type": "record",
    "name": "ApprovalDecided",
    "namespace": "sluice",
    "doc": "A decision on a waiting call.",
    "fields": [
      {
        "name": "approval_id",
        "type": "string",
        "doc": "Names the approval."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "decision",
        "type": "string",
        "doc": "`approve` or `refuse`."
      },
      {
        "name": "arguments_hash",
        "type": "string",
        "doc": "What was decided on."
      },
      {
        "name": "decided_by",
        "type": "string",
        "doc": "Who, as `user:…`; may be empty where a credential says it."
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "Why.",
        "default": ""
      },
      {
        "name": "decided_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "requested_partition",
        "type": [
          "null",
          "int"
        ],
        "doc": "Where the ApprovalRequested stands on this topic that was decided on.",
        "default": null
      },
      {
        "name": "requested_offset",
        "type": [
          "null",
          "long"
        ],
        "doc": "Its offset.",
        "default": null
      },
      {
        "name": "edited_arguments",
        "type": [
          "null",
          "string"
        ],
        "doc": "The arguments that the approver gives the call in place of the model's, as the JSON of an object; null: as they are. Secrets that are left out, or stand as `[redacted]`, stay as the model wrote them.",
        "default": null
      },
      {
        "name": "edited_hash",
        "type": [
          "null",
          "string"
        ],
        "doc": "SHA-256 over edited_arguments, hexadecimal; null where there are none.",
        "default": null
      },
      {
        "name": "decided_for",
        "type": [
          "null",
          "string"
        ],
        "doc": "The person, as `user:…`, for whom a service decides; null where who decides does so itself.",
        "default": null
      }
    ]
  },
  "ApprovalEscalated": {
    "type": "record",
    "name": "ApprovalEscalated",
    "namespace": "sluice",
    "doc": "A call has waited so long that others may decide on it too.",
    "fields": [
      {
        "name": "approval_id",
        "type": "string",
        "doc": "Names the approval."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "tool",
        "type": "string",
        "doc": "The tool's id.",
        "default": ""
      },
      {
        "name": "rule",
        "type": "string",
        "doc": "The rule of policy.approval that says so."
      },
      {
        "name": "to",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Who may decide from now on too, as the entries of the configuration.",
        "default": []
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      }
    ]
  },
  "ApprovalOutcome": {
    "type": "record",
    "name": "ApprovalOutcome",
    "namespace": "sluice",
    "doc": "The outcome of a decision, or of none in time: the executor took it and the run goes on, or it did not count.",
    "fields": [
      {
        "name": "approval_id",
        "type": "string",
        "doc": "Names the approval."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "decision",
        "type": "string",
        "doc": "`approve`, `refuse`, `expire`, `run` where time was up and the rules let the call run then, or what else was written."
      },
      {
        "name": "decided_by",
        "type": "string",
        "doc": "Who; the executor itself where time ran out."
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "Why.",
        "default": ""
      },
      {
        "name": "arguments_hash",
        "type": "string",
        "doc": "What was decided on.",
        "default": ""
      },
      {
        "name": "not_taken",
        "type": [
          "null",
          "string"
        ],
        "doc": "Why the decision does not count; null: it was taken.",
        "default": null
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration by whose policy it was judged; empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "edited_arguments",
        "type": [
          "null",
          "string"
        ],
        "doc": "The arguments with which the approver had the call made, as written; null: as they were.",
        "default": null
      },
      {
        "name": "edited_hash",
        "type": [
          "null",
          "string"
        ],
        "doc": "SHA-256 over edited_arguments, hexadecimal; null where there are none.",
        "default": null
      },
      {
        "name": "still_needed",
        "type": "int",
        "doc": "How many approvals the call waits for behind this one; 0: it waits no more.",
        "default": 0
      },
      {
        "name": "rules",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The rules that an approval counts for, where several approvals are needed.",
        "default": []
      },
      {
        "name": "approved_by",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "All who have approved the call so far, where several approvals are needed.",
        "default": []
      },
      {
        "name": "decided_as",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The entries of the approvers' lists that name who decided, where a group, a role or a claim does.",
        "default": []
      },
      {
        "name": "decided_for",
        "type": [
          "null",
          "string"
        ],
        "doc": "The person for whom who decided acts, as its credential says; null for none.",
        "default": null
      },
      {
        "name": "decided_through",
        "type": [
          "null",
          "string"
        ],
        "doc": "The service that decided for this person, as policy.approval.on_behalf lets it; null where the person did.",
        "default": null
      }
    ]
  },
  "ApprovalRequested": {
    "type": "record",
    "name": "ApprovalRequested",
    "namespace": "sluice",
    "doc": "A call that waits for an approval: what is requested, who requested it, and the position of its turn.",
    "fields": [
      {
        "name": "approval_id",
        "type": "string",
        "doc": "Names the approval; derived from the request, the iteration, the place in the turn, the tool and the arguments."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "tool",
        "type": "string",
        "doc": "The tool's id."
      },
      {
        "name": "arguments_hash",
        "type": "string",
        "doc": "SHA-256 over the arguments as written, hexadecimal."
      },
      {
        "name": "arguments",
        "type": "string",
        "doc": "The validated arguments as JSON, without what their schema calls secret.",
        "default": ""
      },
      {
        "name": "topic",
        "type": "string",
        "doc": "Where the parked turn stands."
      },
      {
        "name": "partition",
        "type": "int",
        "doc": "Its partition."
      },
      {
        "name": "offset",
        "type": "long",
        "doc": "Its offset."
      },
      {
        "name": "expires_at",
        "type": "long",
        "doc": "Without a decision by then the call is refused; milliseconds since the epoch."
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "From 1.",
        "default": 0
      },
      {
        "name": "index",
        "type": "int",
        "doc": "The place of the call in its turn, from 0.",
        "default": 0
      },
      {
        "name": "tool_call_id",
        "type": "string",
        "doc": "The id of the call, the same from start to result.",
        "default": ""
      },
      {
        "name": "effect",
        "type": "string",
        "doc": "What running the tool can change.",
        "default": "external_side_effect"
      },
      {
        "name": "thought",
        "type": "string",
        "doc": "Why the model wants it.",
        "default": ""
      },
      {
        "name": "requested_by",
        "type": "string",
        "doc": "Who asked, as `user:…`.",
        "default": ""
      },
      {
        "name": "on_behalf_of",
        "type": [
          "null",
          "string"
        ],
        "doc": "Whom the asker acts for.",
        "default": null
      },
      {
        "name": "tenant_id",
        "type": "string",
        "doc": "For which tenant.",
        "default": ""
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration that granted the turn.",
        "default": ""
      },
      {
        "name": "requested_at",
        "type": "long",
        "doc": "Milliseconds since the epoch.",
        "default": 0
      },
      {
        "name": "steps",
        "type": {
          "type": "array",
          "items": "AgentStep"
        },
        "doc": "The turn's calls before this one, which are done and are not done again.",
        "default": []
      },
      {
        "name": "in_force_version",
        "type": "string",
        "doc": "The configuration in force when it was asked, which may only deny; empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "parked_ms",
        "type": [
          "null",
          "long"
        ],
        "doc": "How long the run had waited for people before, milliseconds; null where it had not, and where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "rules",
        "type": {
          "type": "array",
          "items": "AskingRule"
        },
        "doc": "What asks for the approval, where rules of policy.approval do; empty where one approval of an approver of the policy is enough.",
        "default": []
      },
      {
        "name": "asked_because",
        "type": "string",
        "doc": "Why it is asked, in a sentence; empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "state",
        "type": "string",
        "doc": "The state of the run before the call; empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The groups that the turn was granted; empty where an earlier version wrote the record.",
        "default": []
      },
      {
        "name": "bound",
        "type": "string",
        "doc": "A digest of all that an approval is of: where any of it is another before the call runs, it is asked about again. Empty where an earlier version wrote the record.",
        "default": ""
      },
      {
        "name": "others",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The other approvals that were asked for in the same turn, by their ids, sorted.",
        "default": []
      },
      {
        "name": "behind",
        "type": [
          "null",
          "string"
        ],
        "doc": "The approval that the turn waits for first: a decision on this one is kept until the turn comes to its call. Null where the turn waits at this call.",
        "default": null
      },
      {
        "name": "question",
        "type": [
          "null",
          "AskedQuestion"
        ],
        "doc": "What the call waits for, where it is no approval but an answer of its caller to the tool's server.",
        "default": null
      },
      {
        "name": "agent",
        "type": [
          "null",
          "string"
        ],
        "doc": "The agent whose run makes the call, as rules name it: of one that is called as a tool the key of its tool. Null for the default agent, for a call that a request names itself, or where an earlier version wrote the record.",
        "default": null
      }
    ]
  },
  "AskedQuestion": {
    "type": "record",
    "name": "AskedQuestion",
    "namespace": "sluice",
    "doc": "What a call waits for that its caller may take time over, none of its contents: a form that the MCP server of the call shows, or the result of a tool that the caller runs itself (docs/mcp-hub.md, docs/doors.md).",
    "fields": [
      {
        "name": "server",
        "type": "string",
        "doc": "The server's name in the configuration; empty for a tool of the caller's own."
      },
      {
        "name": "round",
        "type": "int",
        "doc": "How often the call has waited with this: the answer begins its next round."
      },
      {
        "name": "asked_at",
        "type": "long",
        "doc": "When the server asked, milliseconds since the epoch."
      }
    ]
  },
  "AskingRule": {
    "type": "record",
    "name": "AskingRule",
    "namespace": "sluice",
    "doc": "One of the rules that ask for an approval of a call: each has to have its approvers.",
    "fields": [
      {
        "name": "rule",
        "type": "string",
        "doc": "`rule` for a rule of policy.approval, `effect` for what the tool can change, `plan` for a plan."
      },
      {
        "name": "name",
        "type": "string",
        "doc": "The name of the rule; empty for the others.",
        "default": ""
      },
      {
        "name": "message",
        "type": "string",
        "doc": "Why it asks, in a sentence.",
        "default": ""
      },
      {
        "name": "quorum",
        "type": "int",
        "doc": "How many approvers have to approve the call.",
        "default": 1
      },
      {
        "name": "approvers",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Who might decide when it was asked, as the entries of the configuration.",
        "default": []
      },
      {
        "name": "escalates_at",
        "type": [
          "null",
          "long"
        ],
        "doc": "When the others may decide too, milliseconds since the epoch; null for never.",
        "default": null
      },
      {
        "name": "escalate_to",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The others.",
        "default": []
      },
      {
        "name": "on_expiry",
        "type": "string",
        "doc": "What happens where no decision comes in time: `refuse`, or `run`.",
        "default": "refuse"
      }
    ]
  },
  "AuditRecord": {
    "type": "record",
    "name": "AuditRecord",
    "namespace": "sluice",
    "doc": "One entry of the audit chain.",
    "fields": [
      {
        "name": "kind",
        "type": "string",
        "doc": "What happened."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run.",
        "default": ""
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key.",
        "default": ""
      },
      {
        "name": "source_topic",
        "type": "string",
        "doc": "The record it tells of."
      },
      {
        "name": "source_partition",
        "type": "int",
        "doc": "Its partition."
      },
      {
        "name": "source_offset",
        "type": "long",
        "doc": "Its offset."
      },
      {
        "name": "details",
        "type": "string",
        "doc": "The entry, as JSON text."
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration of the decision.",
        "default": ""
      },
      {
        "name": "previous_hash",
        "type": "string",
        "doc": "Hash of the entry before in this chain; empty for the first."
      },
      {
        "name": "hash",
        "type": "string",
        "doc": "Hash over this entry and the one before."
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "sequence",
        "type": "long",
        "doc": "The place in its chain, from 1; 0 for a checkpoint that stands beside it.",
        "default": 0
      },
      {
        "name": "source_hash",
        "type": "string",
        "doc": "SHA-256 over what the record it tells of says, hexadecimal.",
        "default": ""
      }
    ]
  },
  "BudgetState": {
    "type": "record",
    "name": "BudgetState",
    "namespace": "sluice",
    "doc": "What stood in a budget with a span when a model was to be asked.",
    "fields": [
      {
        "name": "per",
        "type": "string",
        "doc": "Whose calls it counts together: `user`, `tenant` or `agent`."
      },
      {
        "name": "within_ms",
        "type": "long",
        "doc": "Its span, in milliseconds."
      },
      {
        "name": "unit",
        "type": "string",
        "doc": "`tokens` or `usd`."
      },
      {
        "name": "used",
        "type": "string",
        "doc": "What was used or reserved before, a decimal number."
      },
      {
        "name": "adds",
        "type": "string",
        "doc": "The most that the call may use, which it reserves."
      },
      {
        "name": "opens_at",
        "type": [
          "null",
          "long"
        ],
        "doc": "When the budget that refused the call has room for it again, milliseconds since the epoch; null where it did not refuse it, and where the call is larger than the budget.",
        "default": null
      }
    ]
  },
  "CallDecision": {
    "type": "record",
    "name": "CallDecision",
    "namespace": "sluice",
    "doc": "What the executor decided about the call that a request makes itself, before it ran it.",
    "fields": [
      {
        "name": "decided_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The groups decided on, after the default.",
        "default": []
      },
      {
        "name": "hidden",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Why the tool was not offered, as in a Toolset; empty where it was.",
        "default": []
      },
      {
        "name": "hidden_counts",
        "type": {
          "type": "map",
          "values": "int"
        },
        "doc": "All hidden tools by first reason.",
        "default": {}
      },
      {
        "name": "unknown_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Requested groups that no configuration knows.",
        "default": []
      },
      {
        "name": "fallback_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Of `groups`, those that stand in for a requested one without an available tool.",
        "default": []
      },
      {
        "name": "tool_choice",
        "type": [
          "null",
          "string"
        ],
        "doc": "As in a Toolset.",
        "default": null
      },
      {
        "name": "list_hash",
        "type": "string",
        "doc": "SHA-256 over the offered tools with their schemas' hashes, and the others with their reasons: a Toolset of the same decision has it in `list`.",
        "default": ""
      }
    ]
  },
  "Cancellation": {
    "type": "record",
    "name": "Cancellation",
    "namespace": "sluice",
    "doc": "A caller cancels its run. The filter writes it once more with its outcome.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The session of the run, and the key; the request_id where it is empty.",
        "default": ""
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "Why, in words for people; at most 500 characters.",
        "default": ""
      },
      {
        "name": "asked_at",
        "type": "long",
        "doc": "Milliseconds since the epoch.",
        "default": 0
      },
      {
        "name": "must_exist",
        "type": "boolean",
        "doc": "Whether it counts only for a run whose request a filter has taken; without it, also for one that comes later.",
        "default": false
      },
      {
        "name": "outcome",
        "type": [
          "null",
          "CancellationOutcome"
        ],
        "doc": "Null as it is asked for; the filter sets it.",
        "default": null
      }
    ]
  },
  "CancellationOutcome": {
    "type": "record",
    "name": "CancellationOutcome",
    "namespace": "sluice",
    "doc": "What the filter decided on a cancellation.",
    "fields": [
      {
        "name": "actor_id",
        "type": "string",
        "doc": "Who cancelled, as the credential says; empty where it does not hold."
      },
      {
        "name": "tenant_id",
        "type": "string",
        "doc": "Of which tenant; empty where the credential does not hold."
      },
      {
        "name": "not_taken",
        "type": [
          "null",
          "string"
        ],
        "doc": "Null if the run is cancelled; else why not: not_authenticated, not_its_caller, no_such_run or ended.",
        "default": null
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      }
    ]
  },
  "ConfigVersion": {
    "type": "record",
    "name": "ConfigVersion",
    "namespace": "sluice",
    "doc": "A compiled configuration that was in force, the last one on the topic is; or one tool of it, as a part that versions share.",
    "fields": [
      {
        "name": "version",
        "type": "string",
        "doc": "Hash over the compiled configuration, which begins with c-; of a part, p- and the SHA-256 of its text, base64url."
      },
      {
        "name": "configuration",
        "type": "string",
        "doc": "The compiled configuration as JSON text, without its tools where parts holds them; of a part, one tool of it."
      },
      {
        "name": "source",
        "type": "string",
        "doc": "Where it was compiled from.",
        "default": ""
      },
      {
        "name": "compiled_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "record_signature",
        "type": [
          "null",
          "string"
        ],
        "doc": "The signature, with a key of the role config, over the whole record but for this; null of a part, whose name is its hash, and where an earlier version wrote it.",
        "default": null
      },
      {
        "name": "parts",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The parts that hold its tools, in order, by their versions; they stand before it on the topic. Empty where the tools stand in the configuration itself.",
        "default": []
      }
    ]
  },
  "ConversationMessage": {
    "type": "record",
    "name": "ConversationMessage",
    "namespace": "sluice",
    "doc": "One message of the conversation that a client keeps: its words, unchecked.",
    "fields": [
      {
        "name": "role",
        "type": "string",
        "doc": "Whose words they are, as the client says: `user`, `assistant`, or `system` for what the client’s application asks for."
      },
      {
        "name": "text",
        "type": "string",
        "doc": "The words."
      }
    ]
  },
  "DeadLetter": {
    "type": "record",
    "name": "DeadLetter",
    "namespace": "sluice",
    "doc": "A record that could not be processed, as it was, and why.",
    "fields": [
      {
        "name": "topic",
        "type": "string",
        "doc": "Where it came from."
      },
      {
        "name": "partition",
        "type": "int",
        "doc": "Its partition."
      },
      {
        "name": "offset",
        "type": "long",
        "doc": "Its offset."
      },
      {
        "name": "group",
        "type": "string",
        "doc": "Who gave it up."
      },
      {
        "name": "key",
        "type": "string",
        "doc": "Its key.",
        "default": ""
      },
      {
        "name": "value",
        "type": "bytes",
        "doc": "Its payload, unchanged."
      },
      {
        "name": "headers",
        "type": {
          "type": "map",
          "values": "string"
        },
        "doc": "Its headers without credentials.",
        "default": {}
      },
      {
        "name": "timestamp",
        "type": "long",
        "doc": "When the log took it, milliseconds since the epoch."
      },
      {
        "name": "code",
        "type": "string",
        "doc": "A fault code (docs/errors.md)."
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "A sentence."
      },
      {
        "name": "attempts",
        "type": "int",
        "doc": "How often it was tried."
      },
      {
        "name": "failed_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "last_fault",
        "type": [
          "null",
          "string"
        ],
        "doc": "The code of the fault that the retries ended with; null if it was not retried until the limit, or by a former version.",
        "default": null
      }
    ]
  },
  "DirectCall": {
    "type": "record",
    "name": "DirectCall",
    "namespace": "sluice",
    "doc": "A call that a request makes itself, as a model would write it.",
    "fields": [
      {
        "name": "tool",
        "type": "string",
        "doc": "The key or id of the tool."
      },
      {
        "name": "arguments",
        "type": "string",
        "doc": "The arguments, as JSON text."
      },
      {
        "name": "order",
        "type": [
          "null",
          "string"
        ],
        "doc": "`none` if the call's run does not wait for others of its session, and they not for it. Absent, null or empty means that it runs in their order.",
        "default": null
      }
    ]
  },
  "DiscoveryRecord": {
    "type": "record",
    "name": "DiscoveryRecord",
    "namespace": "sluice",
    "doc": "Which of a request’s tools a model was shown, what it searched for and what it called.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run, or the request to the proxy."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The session of the run; of a request to the proxy, the hash of the conversation’s first message.",
        "default": ""
      },
      {
        "name": "tenant_id",
        "type": "string",
        "doc": "For whom."
      },
      {
        "name": "source",
        "type": "string",
        "doc": "Who asked the model: proxy or agent."
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "Of the run, from 1; 0 at the proxy.",
        "default": 0
      },
      {
        "name": "wire",
        "type": "string",
        "doc": "The wire format of the request."
      },
      {
        "name": "model",
        "type": "string",
        "doc": "The model that it names."
      },
      {
        "name": "strategy",
        "type": "string",
        "doc": "The strategy in force."
      },
      {
        "name": "bypass",
        "type": [
          "null",
          "string"
        ],
        "doc": "Why the tools were left as they are; null where they were not.",
        "default": null
      },
      {
        "name": "total_tools",
        "type": "int",
        "doc": "Tools of the request."
      },
      {
        "name": "kept_tools",
        "type": "int",
        "doc": "Of these, those that the first request to the model held."
      },
      {
        "name": "deferred_tools",
        "type": "int",
        "doc": "Of these, those that it did not hold."
      },
      {
        "name": "native_search",
        "type": [
          "null",
          "string"
        ],
        "doc": "Whether the provider’s own search stood in for the search tool: provider, or why not (unsupported_wire, unsupported_model); null where it was not asked for.",
        "default": null
      },
      {
        "name": "searches",
        "type": {
          "type": "array",
          "items": "DiscoverySearch"
        },
        "doc": "In order; the first 50.",
        "default": []
      },
      {
        "name": "rounds",
        "type": "int",
        "doc": "Rounds of searches before there was an answer.",
        "default": 0
      },
      {
        "name": "called",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Names of the tools that the model called, each once; the first 100.",
        "default": []
      },
      {
        "name": "called_tools",
        "type": "int",
        "doc": "How many these are.",
        "default": 0
      },
      {
        "name": "called_deferred",
        "type": "int",
        "doc": "Of these, those that the first request to the model did not hold.",
        "default": 0
      },
      {
        "name": "tokens_before",
        "type": [
          "null",
          "long"
        ],
        "doc": "Tokens of all definitions; null where they were not counted.",
        "default": null
      },
      {
        "name": "tokens_after",
        "type": [
          "null",
          "long"
        ],
        "doc": "Tokens of those that the first request to the model held.",
        "default": null
      },
      {
        "name": "tokenizer",
        "type": [
          "null",
          "string"
        ],
        "doc": "What counted: o200k or cl100k, with ~ before it where the model has another and this is an approximation.",
        "default": null
      },
      {
        "name": "choose_ms",
        "type": "int",
        "doc": "Milliseconds from the request to the choice.",
        "default": 0
      },
      {
        "name": "shadow",
        "type": [
          "null",
          "DiscoveryShadow"
        ],
        "doc": "What another strategy would have shown; null where none ran beside.",
        "default": null
      },
      {
        "name": "meanings",
        "type": [
          "null",
          "string"
        ],
        "doc": "What the strategy hybrid went by: used for the closeness of meanings; words alone where it was preparing, late, failed, too_many_tools or no_model; null where it was not asked for.",
        "default": null
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration of the choice.",
        "default": ""
      },
      {
        "name": "at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      }
    ]
  },
  "DiscoverySearch": {
    "type": "record",
    "name": "DiscoverySearch",
    "namespace": "sluice",
    "doc": "A search of a model for tools that it was not shown.",
    "fields": [
      {
        "name": "query",
        "type": "string",
        "doc": "What it searched for, at most 2,000 characters."
      },
      {
        "name": "by",
        "type": "string",
        "doc": "How it was answered: regex, keywords, blank, ranked, api, provider, all where the service of the strategy api gave no selection, or too_long where the query was too long to be searched for."
      },
      {
        "name": "matched",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Names of the tools that it got, in order; the first 100.",
        "default": []
      },
      {
        "name": "matched_tools",
        "type": "int",
        "doc": "How many these are.",
        "default": 0
      },
      {
        "name": "fail_open",
        "type": [
          "null",
          "string"
        ],
        "doc": "Why the service of the strategy api gave no selection; null where it did, or was not asked.",
        "default": null
      }
    ]
  },
  "DiscoveryShadow": {
    "type": "record",
    "name": "DiscoveryShadow",
    "namespace": "sluice",
    "doc": "What a strategy that ran beside the one in force would have shown.",
    "fields": [
      {
        "name": "strategy",
        "type": "string",
        "doc": "The strategy."
      },
      {
        "name": "kept_tools",
        "type": "int",
        "doc": "How many tools it would have shown."
      },
      {
        "name": "missed",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Of the tools that the model called, those that it would have left out; the first 100.",
        "default": []
      },
      {
        "name": "missed_tools",
        "type": "int",
        "doc": "How many these are.",
        "default": 0
      }
    ]
  },
  "EditedArguments": {
    "type": "record",
    "name": "EditedArguments",
    "namespace": "sluice",
    "doc": "The arguments that an approver gave a call in place of the model's.",
    "fields": [
      {
        "name": "arguments",
        "type": "string",
        "doc": "As JSON, without what their schema calls secret, and cut where they are long; the decision on agent.approvals has them whole."
      },
      {
        "name": "arguments_hash",
        "type": "string",
        "doc": "SHA-256 over the arguments as the approver wrote them, hexadecimal."
      },
      {
        "name": "edited_by",
        "type": "string",
        "doc": "The approver, as `user:…`."
      }
    ]
  },
  "FanOut": {
    "type": "record",
    "name": "FanOut",
    "namespace": "sluice",
    "doc": "The calls of one turn that run side by side, each as an agent's run: neighbours of the turn, begun together and joined when all have ended.",
    "fields": [
      {
        "name": "first",
        "type": "int",
        "doc": "The place of the first of them in the turn, from 0."
      },
      {
        "name": "size",
        "type": "int",
        "doc": "How many they are."
      }
    ]
  },
  "FirstTools": {
    "type": "record",
    "name": "FirstTools",
    "namespace": "sluice",
    "doc": "The tools of a run's first iteration, by their indexes in the configuration of that time, where they are too many to be named in each record.",
    "fields": [
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration that the indexes are of."
      },
      {
        "name": "available",
        "type": {
          "type": "array",
          "items": "int"
        },
        "doc": "Indexes of the configuration's tools, in its order, as lengths in turn: so many are left out, so many are meant, so many are left out, and so on.",
        "default": []
      },
      {
        "name": "filtered_by_group",
        "type": {
          "type": "array",
          "items": "int"
        },
        "doc": "The same.",
        "default": []
      },
      {
        "name": "filtered_by_state",
        "type": {
          "type": "array",
          "items": "int"
        },
        "doc": "The same.",
        "default": []
      }
    ]
  },
  "HiddenIndexes": {
    "type": "record",
    "name": "HiddenIndexes",
    "namespace": "sluice",
    "doc": "Tools that are hidden for the same reasons, by their indexes in the configuration that the record names.",
    "fields": [
      {
        "name": "reasons",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "As in `hidden`."
      },
      {
        "name": "indexes",
        "type": {
          "type": "array",
          "items": "int"
        },
        "doc": "As in `list`.",
        "default": []
      }
    ]
  },
  "HiddenTool": {
    "type": "record",
    "name": "HiddenTool",
    "namespace": "sluice",
    "doc": "A tool that is not offered, and every reason why.",
    "fields": [
      {
        "name": "key",
        "type": "string",
        "doc": "The configuration key."
      },
      {
        "name": "reasons",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "group, state, policy, unavailable, …",
        "default": []
      }
    ]
  },
  "IncompleteAnswer": {
    "type": "record",
    "name": "IncompleteAnswer",
    "namespace": "sluice",
    "doc": "Why a model's text is not its whole answer: its provider ended the turn otherwise than with a stop.",
    "fields": [
      {
        "name": "reason",
        "type": "string",
        "doc": "`length` (a limit of tokens), `filtered` (a content filter or a refusal) or `other`."
      },
      {
        "name": "finish_reason",
        "type": "string",
        "doc": "The provider's own word for it, such as `max_tokens`; empty where it gave none."
      }
    ]
  },
  "Notification": {
    "type": "record",
    "name": "Notification",
    "namespace": "sluice",
    "doc": "What one subscription is to be sent by a webhook.",
    "fields": [
      {
        "name": "notification_id",
        "type": "string",
        "doc": "Names the event, derived from its record; the same for each attempt and each subscription, so that a receiver can leave out what it has."
      },
      {
        "name": "subscription",
        "type": "string",
        "doc": "The entry of notify.subscriptions."
      },
      {
        "name": "event",
        "type": "string",
        "doc": "What happened, such as `run.ended`."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run; empty where it is of none.",
        "default": ""
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "Its session.",
        "default": ""
      },
      {
        "name": "tenant_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "For which tenant; null where that is not known.",
        "default": null
      },
      {
        "name": "subject",
        "type": "string",
        "doc": "What it is about: the id of a run or an approval, or the place of a dead letter.",
        "default": ""
      },
      {
        "name": "outcome",
        "type": "string",
        "doc": "How that ended; empty where it has not.",
        "default": ""
      },
      {
        "name": "at",
        "type": "long",
        "doc": "When it happened, milliseconds since the epoch."
      },
      {
        "name": "stage",
        "type": "int",
        "doc": "Where in a run it stands, for events of the same millisecond.",
        "default": 0
      },
      {
        "name": "data",
        "type": "string",
        "doc": "What the event says, as the JSON of an object."
      }
    ]
  },
  "OfferedList": {
    "type": "record",
    "name": "OfferedList",
    "namespace": "sluice",
    "doc": "Which tools a turn was offered, as indexes in the configuration that the record names. Their specifications stand there.",
    "fields": [
      {
        "name": "hash",
        "type": "string",
        "doc": "SHA-256 over the offered tools with their schemas' hashes, and the others with their reasons."
      },
      {
        "name": "indexes",
        "type": {
          "type": "array",
          "items": "int"
        },
        "doc": "Indexes of the configuration's tools, in its order, as lengths in turn: so many are left out, so many are meant, so many are left out, and so on.",
        "default": []
      },
      {
        "name": "since",
        "type": "int",
        "doc": "The iteration whose Toolset names them: lists that stay the same in a run are written once."
      }
    ]
  },
  "OfferedTool": {
    "type": "record",
    "name": "OfferedTool",
    "namespace": "sluice",
    "doc": "A tool the model may choose in this turn.",
    "fields": [
      {
        "name": "id",
        "type": "string",
        "doc": "The name on the model's wire."
      },
      {
        "name": "key",
        "type": "string",
        "doc": "The configuration key."
      },
      {
        "name": "description",
        "type": "string",
        "doc": "What the model reads; empty where the configuration has it."
      },
      {
        "name": "input_schema",
        "type": "string",
        "doc": "JSON Schema draft 7, as JSON text; empty where the configuration has it."
      },
      {
        "name": "effect",
        "type": "string",
        "doc": "read_only, state_change or external_side_effect.",
        "default": "external_side_effect"
      },
      {
        "name": "schema_hash",
        "type": "string",
        "doc": "Hash over the canonical input schema.",
        "default": ""
      }
    ]
  },
  "OtherModels": {
    "type": "record",
    "name": "OtherModels",
    "namespace": "sluice",
    "doc": "Of a run's tokens, those of models that it does not ask first, and what they cost by the prices of those.",
    "fields": [
      {
        "name": "input_tokens",
        "type": "long",
        "doc": "Of the run's `input_tokens`, those that such models read.",
        "default": 0
      },
      {
        "name": "output_tokens",
        "type": "long",
        "doc": "Of its `output_tokens`, those that they wrote.",
        "default": 0
      },
      {
        "name": "cached_input_tokens",
        "type": "long",
        "doc": "Of its `cached_input_tokens`, theirs.",
        "default": 0
      },
      {
        "name": "cache_write_tokens",
        "type": "long",
        "doc": "Of its `cache_write_tokens`, theirs.",
        "default": 0
      },
      {
        "name": "micro_usd",
        "type": "double",
        "doc": "What they cost, in millionths of a US dollar.",
        "default": 0
      }
    ]
  },
  "OuterCall": {
    "type": "record",
    "name": "OuterCall",
    "namespace": "sluice",
    "doc": "A call of an agent that a run is within: the tool, and the run that made the call.",
    "fields": [
      {
        "name": "tool",
        "type": "string",
        "doc": "The tool's id."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run whose call it is."
      }
    ]
  },
  "ParentCall": {
    "type": "record",
    "name": "ParentCall",
    "namespace": "sluice",
    "doc": "The call that a run answers, where it runs as an agent tool: where its turn is parked, what is done of it, and what the run may use up.",
    "fields": [
      {
        "name": "tool",
        "type": "string",
        "doc": "The tool's id."
      },
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run whose call it is."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "Its key."
      },
      {
        "name": "tool_call_id",
        "type": "string",
        "doc": "The id of the call, the same from start to result."
      },
      {
        "name": "partition",
        "type": "int",
        "doc": "Where its ToolCall stands on agent.tool-calls."
      },
      {
        "name": "offset",
        "type": "long",
        "doc": "The same."
      },
      {
        "name": "index",
        "type": "int",
        "doc": "The place of the call in its turn, from 0."
      },
      {
        "name": "started_at",
        "type": "long",
        "doc": "When the call began, milliseconds since the epoch."
      },
      {
        "name": "max_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "Tokens that the model may read and write in this run; null for no limit.",
        "default": null
      },
      {
        "name": "max_micro_usd",
        "type": [
          "null",
          "long"
        ],
        "doc": "What they may cost, in millionths of a US dollar; null for no limit.",
        "default": null
      },
      {
        "name": "steps",
        "type": {
          "type": "array",
          "items": "AgentStep"
        },
        "doc": "The turn's calls before this one, which are done and are not done again. Of calls that run side by side: those before the first of them.",
        "default": []
      },
      {
        "name": "fan_out",
        "type": [
          "null",
          "FanOut"
        ],
        "doc": "The calls that run side by side with this one; null where it runs alone.",
        "default": null
      },
      {
        "name": "wanted_by",
        "type": [
          "null",
          "long"
        ],
        "doc": "When the calling run's own request wants its answer at the latest, however long it waits for people; milliseconds since the epoch, null where it does not say.",
        "default": null
      },
      {
        "name": "outer",
        "type": [
          "null",
          {
            "type": "array",
            "items": "OuterCall"
          }
        ],
        "doc": "Where the calling run answers a call of an agent itself: that call, and those around it, the nearest first; null where it answers none.",
        "default": null
      }
    ]
  },
  "PassedOver": {
    "type": "record",
    "name": "PassedOver",
    "namespace": "sluice",
    "doc": "A model that was asked for a turn and gave none, so that the next one was asked.",
    "fields": [
      {
        "name": "name",
        "type": "string",
        "doc": "Its provider and its name there, as `provider/name`."
      },
      {
        "name": "code",
        "type": "string",
        "doc": "The code of its fault."
      },
      {
        "name": "message",
        "type": "string",
        "doc": "What it was, in words without a secret."
      }
    ]
  },
  "Principal": {
    "type": "record",
    "name": "Principal",
    "namespace": "sluice",
    "doc": "Who asks, as the filter found it in a verified credential: references, no secrets. Nothing that a sender writes gets here.",
    "fields": [
      {
        "name": "actor_id",
        "type": "string",
        "doc": "Who acts, as `user:<id>`."
      },
      {
        "name": "tenant_id",
        "type": "string",
        "doc": "For which tenant."
      },
      {
        "name": "subject_id",
        "type": [
          "null",
          "string"
        ],
        "doc": "On whose behalf, as `user:<id>`; null: on the actor’s own.",
        "default": null
      },
      {
        "name": "groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The tool groups the actor may ask for; `*` for all.",
        "default": []
      },
      {
        "name": "connections",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The connections the actor may use; `*` for all.",
        "default": []
      }
    ]
  },
  "RememberedRun": {
    "type": "record",
    "name": "RememberedRun",
    "namespace": "sluice",
    "doc": "An earlier run of a session, as the model of a later one is shown it.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The earlier run."
      },
      {
        "name": "question",
        "type": "string",
        "doc": "What it was asked, cut where it was long."
      },
      {
        "name": "answer",
        "type": "string",
        "doc": "Its answer, or the first sentences of it."
      },
      {
        "name": "ended_at",
        "type": "long",
        "doc": "When it ended, milliseconds since the epoch."
      }
    ]
  },
  "RequestedCall": {
    "type": "record",
    "name": "RequestedCall",
    "namespace": "sluice",
    "doc": "A call as the model wrote it.",
    "fields": [
      {
        "name": "tool_call_id",
        "type": "string",
        "doc": "The model's id, or one made at the boundary."
      },
      {
        "name": "tool",
        "type": "string",
        "doc": "The name the model wrote."
      },
      {
        "name": "arguments",
        "type": "string",
        "doc": "The raw argument text, valid JSON or not."
      },
      {
        "name": "arguments_bytes",
        "type": [
          "null",
          "int"
        ],
        "doc": "UTF-8 bytes of the arguments that the model wrote, where they were too large to be kept: then the call is not made, and `arguments` says so in their place.",
        "default": null
      },
      {
        "name": "provider_data",
        "type": [
          "null",
          "string"
        ],
        "doc": "What the model's provider gets back with the call in the turns after, as JSON text; null where it wants nothing.",
        "default": null
      }
    ]
  },
  "Run": {
    "type": "record",
    "name": "Run",
    "namespace": "sluice",
    "doc": "What the loop keeps of a run, carried from hop to hop so that no service remembers it.",
    "fields": [
      {
        "name": "iteration",
        "type": "int",
        "doc": "The iteration under way, from 1."
      },
      {
        "name": "max_iterations",
        "type": "int",
        "doc": "The last iteration allowed."
      },
      {
        "name": "started_at",
        "type": "long",
        "doc": "When the filter took the request, milliseconds since the epoch."
      },
      {
        "name": "deadline",
        "type": "long",
        "doc": "When it must have ended, milliseconds since the epoch."
      },
      {
        "name": "initial_state",
        "type": "string",
        "doc": "The state it began in, after the default."
      },
      {
        "name": "state_entered_at",
        "type": "long",
        "doc": "When the present state was entered, milliseconds since the epoch."
      },
      {
        "name": "state_transitions",
        "type": {
          "type": "array",
          "items": "StateTransition"
        },
        "doc": "In order.",
        "default": []
      },
      {
        "name": "requested_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The groups, after the default."
      },
      {
        "name": "available_tools",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "What the first iteration was offered, by key.",
        "default": []
      },
      {
        "name": "filtered_by_group",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "What the group test hid in the first iteration, by key.",
        "default": []
      },
      {
        "name": "filtered_by_state",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "What the state test alone hid in the first iteration, by key.",
        "default": []
      },
      {
        "name": "input_tokens",
        "type": "long",
        "doc": "Tokens the model read so far.",
        "default": 0
      },
      {
        "name": "output_tokens",
        "type": "long",
        "doc": "Tokens the model wrote so far.",
        "default": 0
      },
      {
        "name": "tool_calls",
        "type": {
          "type": "map",
          "values": "int"
        },
        "doc": "How often each tool ran in this run so far, by id.",
        "default": {}
      },
      {
        "name": "principal",
        "type": [
          "null",
          "Principal"
        ],
        "doc": "Who asks; set by the filter alone.",
        "default": null
      },
      {
        "name": "redrive",
        "type": [
          "null",
          "string"
        ],
        "doc": "The dead letter, as partition/offset, that this attempt of the run was re-driven from; null for the first attempt.",
        "default": null
      },
      {
        "name": "answer",
        "type": [
          "null",
          "string"
        ],
        "doc": "The answer that a tool ended the run with; the filter ends it then. Null while no tool has.",
        "default": null
      },
      {
        "name": "parent",
        "type": [
          "null",
          "ParentCall"
        ],
        "doc": "The call that this run answers, where it runs as an agent tool; null for a run that a caller requested.",
        "default": null
      },
      {
        "name": "cached_input_tokens",
        "type": "long",
        "doc": "Of `input_tokens`, those that the provider had in its cache.",
        "default": 0
      },
      {
        "name": "cache_write_tokens",
        "type": "long",
        "doc": "Of `input_tokens`, those that the provider put into its cache.",
        "default": 0
      },
      {
        "name": "conditions",
        "type": [
          "null",
          "RunConditions"
        ],
        "doc": "What rules on availability are judged by; null while the configuration has none.",
        "default": null
      },
      {
        "name": "strategy",
        "type": [
          "null",
          "RunStrategy"
        ],
        "doc": "The strategy of the run; null where it is `react`, and where an earlier version began the run.",
        "default": null
      },
      {
        "name": "memory",
        "type": [
          "null",
          {
            "type": "array",
            "items": "RememberedRun"
          }
        ],
        "doc": "The session's earlier runs that the model is shown, the oldest first; null where the configuration shows none.",
        "default": null
      },
      {
        "name": "definition_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "Tokens of the definitions of tools that its models were sent so far, as Sluice counts them, those of agents that it called among them; null where none were counted.",
        "default": null
      },
      {
        "name": "result_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "Tokens of results of calls that they were sent so far, as `definition_tokens`.",
        "default": null
      },
      {
        "name": "other_tokens",
        "type": [
          "null",
          "long"
        ],
        "doc": "Tokens of all else that they were sent so far, as `definition_tokens`.",
        "default": null
      },
      {
        "name": "parked_ms",
        "type": [
          "null",
          "long"
        ],
        "doc": "How long the run has waited for people so far, milliseconds, which its `deadline` was put off by; null where it has not, and where an earlier version parked it.",
        "default": null
      },
      {
        "name": "other_models",
        "type": [
          "null",
          "OtherModels"
        ],
        "doc": "Those of its tokens that a model with a price of its own took which the run does not ask first: a fallback's, and those of agents that it called; null where there are none, and where an earlier version counted them.",
        "default": null
      },
      {
        "name": "first_tools",
        "type": [
          "null",
          "FirstTools"
        ],
        "doc": "All tools of the first iteration, where one of its lists has more than 32: then `available_tools`, `filtered_by_group` and `filtered_by_state` name the first 16 of each. In a run without a model, where one has more than 2: then they name none. Null elsewhere.",
        "default": null
      }
    ]
  },
  "RunConditions": {
    "type": "record",
    "name": "RunConditions",
    "namespace": "sluice",
    "doc": "What the rules on availability are judged by, beside the request: as the filter found it, and what the run did so far.",
    "fields": [
      {
        "name": "channel",
        "type": "string",
        "doc": "How the request came: `http`, `mcp` or `kafka`; empty where that is not known.",
        "default": ""
      },
      {
        "name": "claims",
        "type": {
          "type": "map",
          "values": {
            "type": "array",
            "items": "string"
          }
        },
        "doc": "Of the credential, the claims that rules name.",
        "default": {}
      },
      {
        "name": "loads",
        "type": {
          "type": "map",
          "values": "string"
        },
        "doc": "The measured values, by measure, as decimal numbers. Empty: the value could not be had, and the rules about it close their tools.",
        "default": {}
      },
      {
        "name": "held",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Rules that their load closed, by name: between two thresholds what was before stays.",
        "default": []
      },
      {
        "name": "succeeded",
        "type": {
          "type": "map",
          "values": "int"
        },
        "doc": "How often each tool succeeded in this run, by id.",
        "default": {}
      },
      {
        "name": "approved",
        "type": {
          "type": "map",
          "values": "long"
        },
        "doc": "When the last call of each tool ended that an approver had let through, by id, milliseconds since the epoch.",
        "default": {}
      },
      {
        "name": "facts",
        "type": [
          "null",
          {
            "type": "map",
            "values": "string"
          }
        ],
        "doc": "What was found out beside the records to decide about the iteration, by name; null where nothing was asked.",
        "default": null
      }
    ]
  },
  "RunError": {
    "type": "record",
    "name": "RunError",
    "namespace": "sluice",
    "doc": "Why a run ended without an answer.",
    "fields": [
      {
        "name": "code",
        "type": "string",
        "doc": "A run error code (docs/errors.md)."
      },
      {
        "name": "message",
        "type": "string",
        "doc": "A sentence for the caller."
      }
    ]
  },
  "RunStrategy": {
    "type": "record",
    "name": "RunStrategy",
    "namespace": "sluice",
    "doc": "How a run comes to its answer: which strategy says what its turns do, and why that one.",
    "fields": [
      {
        "name": "name",
        "type": "string",
        "doc": "`react`, `plan`, `confidence` or `supervisor`; `auto` while none of these is chosen yet."
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "Why this one, where a rule chose it; empty where the request or the configuration names it.",
        "default": ""
      },
      {
        "name": "brought",
        "type": "int",
        "doc": "Steps that the request brought along: what a strategy goes by are the steps behind these.",
        "default": 0
      }
    ]
  },
  "Sampling": {
    "type": "record",
    "name": "Sampling",
    "namespace": "sluice",
    "doc": "How a model is to write its turns, as far as its API has a word for it; what is null is as the configuration has it.",
    "fields": [
      {
        "name": "temperature",
        "type": [
          "null",
          "double"
        ],
        "doc": "From 0 to 2.",
        "default": null
      },
      {
        "name": "top_p",
        "type": [
          "null",
          "double"
        ],
        "doc": "From 0 to 1.",
        "default": null
      },
      {
        "name": "max_output_tokens",
        "type": [
          "null",
          "int"
        ],
        "doc": "The most tokens of a turn, if they are fewer than the configuration allows.",
        "default": null
      },
      {
        "name": "stop",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Texts behind which a turn ends, 4 at most; empty means those of the configuration.",
        "default": []
      },
      {
        "name": "seed",
        "type": [
          "null",
          "long"
        ],
        "doc": "A whole number of 32 bits.",
        "default": null
      },
      {
        "name": "reasoning_effort",
        "type": [
          "null",
          "string"
        ],
        "doc": "How much the model thinks: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, and no more than the configuration says.",
        "default": null
      }
    ]
  },
  "StandingApproval": {
    "type": "record",
    "name": "StandingApproval",
    "namespace": "sluice",
    "doc": "An approver's word on calls to come: they run unasked within these bounds, or do so no longer. With `at` it is the executor's word on that.",
    "fields": [
      {
        "name": "standing_id",
        "type": "string",
        "doc": "Names the standing approval, and is the key."
      },
      {
        "name": "action",
        "type": "string",
        "doc": "`give` or `revoke`."
      },
      {
        "name": "tool",
        "type": "string",
        "doc": "The tool's key or id.",
        "default": ""
      },
      {
        "name": "bounds",
        "type": "string",
        "doc": "What the arguments may be, as JSON in the form of `arguments` of a rule; `{}`, or empty, for whatever the tool takes.",
        "default": ""
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The session whose calls it is for; empty where it is a user's.",
        "default": ""
      },
      {
        "name": "user",
        "type": "string",
        "doc": "Who the calls are made by or for, as `user:…`; empty where it is a session's.",
        "default": ""
      },
      {
        "name": "until",
        "type": "long",
        "doc": "Until when it holds, milliseconds since the epoch; within a week.",
        "default": 0
      },
      {
        "name": "calls",
        "type": "int",
        "doc": "How many calls it lets through, 1 to 1,000.",
        "default": 100
      },
      {
        "name": "decided_by",
        "type": "string",
        "doc": "The approver, as `user:…`; may be empty where a credential says it.",
        "default": ""
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "Why.",
        "default": ""
      },
      {
        "name": "decided_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "tenant_id",
        "type": "string",
        "doc": "For which tenant, as the executor found it; empty before.",
        "default": ""
      },
      {
        "name": "not_taken",
        "type": [
          "null",
          "string"
        ],
        "doc": "Why it does not count; null: it was taken.",
        "default": null
      },
      {
        "name": "at",
        "type": [
          "null",
          "long"
        ],
        "doc": "When an executor judged it, milliseconds since the epoch; null before.",
        "default": null
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration by whose policy it was judged; empty before.",
        "default": ""
      }
    ]
  },
  "StateTransition": {
    "type": "record",
    "name": "StateTransition",
    "namespace": "sluice",
    "doc": "A change of state by a successful tool call.",
    "fields": [
      {
        "name": "tool",
        "type": "string",
        "doc": "The tool's configuration key."
      },
      {
        "name": "from",
        "type": "string",
        "doc": "The state before."
      },
      {
        "name": "to",
        "type": "string",
        "doc": "The state after."
      },
      {
        "name": "timestamp",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      }
    ]
  },
  "StepContent": {
    "type": "record",
    "name": "StepContent",
    "namespace": "sluice",
    "doc": "Content of a step or of a question that stands in the content store: its run, and this name, are the way to it (docs/content.md).",
    "fields": [
      {
        "name": "hash",
        "type": "string",
        "doc": "A keyed hash of the content, 64 hexadecimal digits."
      },
      {
        "name": "type",
        "type": "string",
        "doc": "Its media type."
      },
      {
        "name": "size",
        "type": "long",
        "doc": "Bytes."
      },
      {
        "name": "kind",
        "type": "string",
        "doc": "`result`: what an MCP server answered, whole, as JSON text. `image`, `audio` or `resource`: the bytes of one of its blocks. `value`: a result that is larger than a record, whole; the observation is its first page. Of a question, by what the bytes are: `image`, `audio` or `file`."
      },
      {
        "name": "name",
        "type": [
          "null",
          "string"
        ],
        "doc": "The address of a resource, or the name of a file, cut where it is long; else null.",
        "default": null
      }
    ]
  },
  "StepQuestion": {
    "type": "record",
    "name": "StepQuestion",
    "namespace": "sluice",
    "doc": "What an MCP server asked in the middle of a call, and how it was answered; none of its contents (docs/mcp-hub.md).",
    "fields": [
      {
        "name": "kind",
        "type": "string",
        "doc": "`elicitation`, a form for a person; `sampling`, the words of a model; `roots`, the client's folders."
      },
      {
        "name": "server",
        "type": "string",
        "doc": "The server's name in the configuration."
      },
      {
        "name": "asked_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "ended_at",
        "type": "long",
        "doc": "When it was answered or refused, or when the call ended; milliseconds since the epoch."
      },
      {
        "name": "outcome",
        "type": "string",
        "doc": "`answered`; of a form also `declined` or `cancelled`; `refused`; `unanswered` where the call ended first."
      },
      {
        "name": "reason",
        "type": [
          "null",
          "string"
        ],
        "doc": "Why it was refused: `off`, `no_person`, `limit`, `invalid`, `unsupported` or `model_unreachable`; else null.",
        "default": null
      },
      {
        "name": "by",
        "type": [
          "null",
          "string"
        ],
        "doc": "The caller who answered a form, or the model that answered; null where neither did.",
        "default": null
      },
      {
        "name": "input_tokens",
        "type": "long",
        "doc": "Tokens that the model read.",
        "default": 0
      },
      {
        "name": "output_tokens",
        "type": "long",
        "doc": "Tokens that it wrote.",
        "default": 0
      },
      {
        "name": "count",
        "type": "int",
        "doc": "How many questions it stands for: those behind the sixteenth of a call are counted with one of their kind, outcome and reason.",
        "default": 1
      }
    ]
  },
  "StepScore": {
    "type": "record",
    "name": "StepScore",
    "namespace": "sluice",
    "doc": "How good the result of one attempt at a plan's step was, and what that was measured by.",
    "fields": [
      {
        "name": "plan",
        "type": "int",
        "doc": "The number of the run's plan, from 1."
      },
      {
        "name": "step",
        "type": "int",
        "doc": "The number of the plan's step, from 1."
      },
      {
        "name": "attempt",
        "type": "int",
        "doc": "Which attempt at the step, from 1."
      },
      {
        "name": "tool",
        "type": "string",
        "doc": "Id of the tool that was called."
      },
      {
        "name": "kind",
        "type": "string",
        "doc": "Which formula: `graph`, `list`, `text`, `mcp`, `change`, `other`, or `failed` where the call gave no result."
      },
      {
        "name": "inputs",
        "type": {
          "type": "map",
          "values": "double"
        },
        "doc": "The numbers that the formula took, by name."
      },
      {
        "name": "formula",
        "type": "double",
        "doc": "What the formula gives, from 0 to 1."
      },
      {
        "name": "judged",
        "type": [
          "null",
          "double"
        ],
        "doc": "What the model that judges gave, from 0 to 1; null where none was asked.",
        "default": null
      },
      {
        "name": "confidence",
        "type": "double",
        "doc": "The lower of the two."
      },
      {
        "name": "threshold",
        "type": "double",
        "doc": "What the step needs."
      },
      {
        "name": "accepted",
        "type": "string",
        "doc": "`threshold` (it is good enough), `override` (it was let through below its threshold), or empty where it was not accepted.",
        "default": ""
      }
    ]
  },
  "StrategyDecision": {
    "type": "record",
    "name": "StrategyDecision",
    "namespace": "sluice",
    "doc": "What a strategy decided for a turn, from the run as its Toolset has it.",
    "fields": [
      {
        "name": "strategy",
        "type": "string",
        "doc": "Which one."
      },
      {
        "name": "action",
        "type": "string",
        "doc": "`plan` (the model is asked for a plan), `call` (the next step of the plan is made as it was planned), `arguments` (the model is asked for the arguments of the next step), `answer` (the model is asked for the answer, and no more tools are called); where results are measured `retry` (the model is asked for other arguments of the step), `simplify` (for a simpler call in its place), `judge` (for how good the result is), `override` (the model, or a person, says whether the plan goes on with a result below its threshold) or `partial` (the model is asked for an answer by what there is); or `supervise` (the model hands parts of the question to agents, or answers by what they found)."
      },
      {
        "name": "reason",
        "type": "string",
        "doc": "Why, as a sentence."
      },
      {
        "name": "plan",
        "type": "int",
        "doc": "The number of the run's plan, from 1; 0 where there is none.",
        "default": 0
      },
      {
        "name": "step",
        "type": "int",
        "doc": "The number of the plan's step, from 1; 0 where the turn makes none.",
        "default": 0
      },
      {
        "name": "attempt",
        "type": "int",
        "doc": "Which attempt at the step, from 1; 0 where the turn makes none, or where attempts are not counted.",
        "default": 0
      },
      {
        "name": "score",
        "type": [
          "null",
          "StepScore"
        ],
        "doc": "How good the result of the call before was, which the decision rests on; null where nothing was measured.",
        "default": null
      },
      {
        "name": "confidence",
        "type": [
          "null",
          "double"
        ],
        "doc": "How sure an answer by what there is can be, from 0 to 1; null where none is asked for, or where nothing was measured.",
        "default": null
      },
      {
        "name": "partial",
        "type": "boolean",
        "doc": "Whether the answer that it asks for is one by what there is: plans failed or were refused, and none is left, or no turn is. False where an earlier version wrote the record.",
        "default": false
      }
    ]
  },
  "ToolCall": {
    "type": "record",
    "name": "ToolCall",
    "namespace": "sluice",
    "doc": "A turn of the model that calls tools: its thought and the calls, in order, to be run one after another.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "From 1."
      },
      {
        "name": "thought",
        "type": "string",
        "doc": "Why.",
        "default": ""
      },
      {
        "name": "calls",
        "type": {
          "type": "array",
          "items": "RequestedCall"
        },
        "doc": "In order."
      },
      {
        "name": "request",
        "type": "AgentRequest",
        "doc": "The request as it stands now."
      },
      {
        "name": "run",
        "type": "Run",
        "doc": "The run so far."
      },
      {
        "name": "groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The groups decided on."
      },
      {
        "name": "offered",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The ids that were offered; empty where `list` has them.",
        "default": []
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration that granted."
      },
      {
        "name": "grant",
        "type": [
          "null",
          "string"
        ],
        "doc": "The filter's signed grant.",
        "default": null
      },
      {
        "name": "tool_choice",
        "type": [
          "null",
          "string"
        ],
        "doc": "What the Toolset said of it: `none`, `required` or the id of an offered tool; null means `auto`.",
        "default": null
      },
      {
        "name": "omitted_calls",
        "type": "int",
        "doc": "Calls of the turn behind these, which were too many to be kept.",
        "default": 0
      },
      {
        "name": "record_signature",
        "type": [
          "null",
          "string"
        ],
        "doc": "The agent's signature over the whole record but for this; that of the executor's key for calls where `call` is set; null where an earlier version wrote it.",
        "default": null
      },
      {
        "name": "model",
        "type": [
          "null",
          "TurnModel"
        ],
        "doc": "The model that took the turn, and what it was asked; null where none was, or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "decision",
        "type": [
          "null",
          "StrategyDecision"
        ],
        "doc": "What the run's strategy decided for the turn; null where it is `react`, or where an earlier version wrote the record.",
        "default": null
      },
      {
        "name": "list",
        "type": [
          "null",
          "OfferedList"
        ],
        "doc": "What the Toolset says of it; null where an earlier version wrote that: then `offered` has all.",
        "default": null
      },
      {
        "name": "call",
        "type": [
          "null",
          "CallDecision"
        ],
        "doc": "What was decided about the call that its request makes itself, which goes on as a turn since it has to wait; null for every other turn.",
        "default": null
      }
    ]
  },
  "Toolset": {
    "type": "record",
    "name": "Toolset",
    "namespace": "sluice",
    "doc": "What the filter decided for one iteration: the eligible tools, why each other one is hidden, and every input of the decision.",
    "fields": [
      {
        "name": "request_id",
        "type": "string",
        "doc": "The run."
      },
      {
        "name": "session_id",
        "type": "string",
        "doc": "The key."
      },
      {
        "name": "iteration",
        "type": "int",
        "doc": "From 1."
      },
      {
        "name": "request",
        "type": "AgentRequest",
        "doc": "The request as it stands now."
      },
      {
        "name": "run",
        "type": "Run",
        "doc": "The run so far."
      },
      {
        "name": "state",
        "type": "string",
        "doc": "The state decided on, after the default."
      },
      {
        "name": "groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The groups decided on, after the default."
      },
      {
        "name": "tools",
        "type": {
          "type": "array",
          "items": "OfferedTool"
        },
        "doc": "What was offered, in configuration order, where these are at most 32 tools and no earlier iteration has the same: `list` has all. Descriptions and schemas stand in the configuration, and are empty here.",
        "default": []
      },
      {
        "name": "hidden",
        "type": {
          "type": "array",
          "items": "HiddenTool"
        },
        "doc": "Every other tool, in configuration order, where these are at most 32 and no earlier iteration has the same.",
        "default": []
      },
      {
        "name": "hidden_counts",
        "type": {
          "type": "map",
          "values": "int"
        },
        "doc": "Hidden tools by first reason.",
        "default": {}
      },
      {
        "name": "unknown_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Requested groups that no configuration knows.",
        "default": []
      },
      {
        "name": "unavailable",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Empty in every record so far, and no input of the decision: a tool that cannot run is hidden as `unavailable`, which the configuration named by config_version says. Kept for readers of former versions.",
        "default": []
      },
      {
        "name": "config_version",
        "type": "string",
        "doc": "The configuration decided under."
      },
      {
        "name": "decided_at",
        "type": "long",
        "doc": "Milliseconds since the epoch."
      },
      {
        "name": "grant",
        "type": [
          "null",
          "string"
        ],
        "doc": "The filter’s signature over what it granted for this turn, as compact JWS.",
        "default": null
      },
      {
        "name": "tool_choice",
        "type": [
          "null",
          "string"
        ],
        "doc": "What the request’s tool_choice comes to in this iteration: `none`, `required` or the id of an offered tool; null means `auto`.",
        "default": null
      },
      {
        "name": "record_signature",
        "type": [
          "null",
          "string"
        ],
        "doc": "The filter's signature over the whole record but for this; null where an earlier version wrote it.",
        "default": null
      },
      {
        "name": "fallback_groups",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "Of `groups`, those that stand in for a requested one without an available tool.",
        "default": []
      },
      {
        "name": "list",
        "type": [
          "null",
          "OfferedList"
        ],
        "doc": "What was offered, by indexes; null where an earlier version wrote the record: then `tools` has all, with their texts.",
        "default": null
      },
      {
        "name": "hidden_indexes",
        "type": {
          "type": "array",
          "items": "HiddenIndexes"
        },
        "doc": "Every hidden tool, where these are more than 32.",
        "default": []
      }
    ]
  },
  "TurnModel": {
    "type": "record",
    "name": "TurnModel",
    "namespace": "sluice",
    "doc": "Which model took a turn.",
    "fields": [
      {
        "name": "name",
        "type": "string",
        "doc": "Its provider and its name there, as `provider/name`."
      },
      {
        "name": "prompt_hash",
        "type": "string",
        "doc": "SHA-256 over what it was asked, with its name and the full schemas of the tools that it was sent, hexadecimal."
      },
      {
        "name": "passed_over",
        "type": {
          "type": "array",
          "items": "PassedOver"
        },
        "doc": "The models that were asked before it and gave no turn, in order.",
        "default": []
      },
      {
        "name": "shown",
        "type": [
          "null",
          {
            "type": "array",
            "items": "string"
          }
        ],
        "doc": "The ids of the offered tools that it was shown, where tool discovery left others out; null where it was shown all.",
        "default": null
      },
      {
        "name": "native_search",
        "type": [
          "null",
          "string"
        ],
        "doc": "`provider` where the others were sent too, for its provider's own search to find; null where it was sent the shown ones alone.",
        "default": null
      },
      {
        "name": "deferred",
        "type": {
          "type": "array",
          "items": "string"
        },
        "doc": "The ids of the tools that it was sent with their short descriptions, in the order sent.",
        "default": []
      },
      {
        "name": "definition_tokens",
        "type": [
          "null",
          "int"
        ],
        "doc": "Tokens of the definitions of its tools, as they were sent; null where they were not counted.",
        "default": null
      },
      {
        "name": "result_tokens",
        "type": [
          "null",
          "int"
        ],
        "doc": "Tokens of what calls had given before, as `definition_tokens`.",
        "default": null
      },
      {
        "name": "other_tokens",
        "type": [
          "null",
          "int"
        ],
        "doc": "Tokens of instructions, question, thoughts and arguments, as `definition_tokens`.",
        "default": null
      },
      {
        "name": "tokenizer",
        "type": [
          "null",
          "string"
        ],
        "doc": "What counted the three: with `~` before it where the model has another one and they are approximations.",
        "default": null
      },
      {
        "name": "asked_again",
        "type": [
          "null",
          "string"
        ],
        "doc": "The message it got with its second request, since it had not called what the run's strategy wants; null where its first reply was the turn.",
        "default": null
      },
      {
        "name": "budgets",
        "type": {
          "type": "array",
          "items": "BudgetState"
        },
        "doc": "What stood in each budget with a span before it was asked; empty where none is configured.",
        "default": []
      }
    ]
  }
} as const;
