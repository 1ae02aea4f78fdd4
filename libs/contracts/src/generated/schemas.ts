// Generated from schemas/ by `npm run generate`. Do not edit.

export const schemas = {
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
        "doc": "thinking, text, tool_call_start, tool_call_result or tool_progress."
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
        "doc": "Text, validated arguments or the redacted result.",
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
      }
    ]
  },
  "AgentStep": {
    "type": "record",
    "name": "AgentStep",
    "namespace": "sluice",
    "doc": "One step of a run: a thought, a tool call and what came of it. What a history holds.",
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
        "doc": "The executor's signature over the whole record but for this, `signature` included; null where an earlier version wrote it, or where the filter takes a turn back.",
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
        "doc": "What came of it.",
        "default": null
      }
    ]
  },
  "ApprovalDecided": {
    "type": "record",
    "name": "ApprovalDecided",
    "namespace": "sluice",
    "doc": "Somebody decided on a waiting call.",
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
      }
    ]
  },
  "ApprovalOutcome": {
    "type": "record",
    "name": "ApprovalOutcome",
    "namespace": "sluice",
    "doc": "What came of a decision, or of none in time: the executor took it and the run goes on, or it did not count.",
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
        "doc": "`approve`, `refuse` or `expire`, or what else was written."
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
      }
    ]
  },
  "ApprovalRequested": {
    "type": "record",
    "name": "ApprovalRequested",
    "namespace": "sluice",
    "doc": "A call waits for somebody's approval: what is asked, who asked, and where its turn stands.",
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
        "doc": "What is told, as JSON text."
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
  "ConfigVersion": {
    "type": "record",
    "name": "ConfigVersion",
    "namespace": "sluice",
    "doc": "A compiled configuration that was in force; the last one on the topic is.",
    "fields": [
      {
        "name": "version",
        "type": "string",
        "doc": "Hash over the compiled configuration."
      },
      {
        "name": "configuration",
        "type": "string",
        "doc": "The compiled configuration as JSON text."
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
        "doc": "The signature, with a key of the role config, over the whole record but for this; null where an earlier version wrote it.",
        "default": null
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
        "doc": "What the model reads."
      },
      {
        "name": "input_schema",
        "type": "string",
        "doc": "JSON Schema draft 7, as JSON text."
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
        "doc": "The turn's calls before this one, which are done and are not done again.",
        "default": []
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
        "doc": "The answer that a tool ended the run with; the filter ends it then. Null while nobody has.",
        "default": null
      },
      {
        "name": "parent",
        "type": [
          "null",
          "ParentCall"
        ],
        "doc": "The call that this run answers, where it runs as an agent tool; null for a run that somebody asked for.",
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
        "doc": "The ids that were offered.",
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
        "doc": "The agent's signature over the whole record but for this; null where an earlier version wrote it.",
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
        "doc": "In configuration order.",
        "default": []
      },
      {
        "name": "hidden",
        "type": {
          "type": "array",
          "items": "HiddenTool"
        },
        "doc": "Every other tool, in configuration order; empty beyond 64 KB, then the counts stand for it.",
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
      }
    ]
  }
} as const;
