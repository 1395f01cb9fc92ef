// SPDX-License-Identifier: MIT
// Agents in Node: what they are, one run of one, and conversations (docs/agents.md).  index.js gives us what we share with it.
"use strict";

// As addon's What.
const ASK = 0, EVENT = 1, END = 2;

module.exports = ({ native, guarded, toJson, ToolSet, PtcError, UsageError }) => {
  /** An agent has no answer. */
  class AgentError extends PtcError {
    constructor(reason, detail, outcome) {
      super(`${reason}: ${detail}`);
      Object.assign(this, { reason, detail, outcome });
    }
  }

  /** Opens models by name, as `ptc run --llm` does. */
  class Llm {
    constructor({ dotenv, aliases, record, replayLoose } = {}) {
      this.handle = guarded(() => native.llmNew({ dotenv, aliases, record, replayLoose }));
      this.closed = false;
    }
    close() {
      guarded(() => native.llmClose(this.handle));
      this.closed = true;
    }
  }

  /** How a run of an agent ended. */
  class AgentResult {
    constructor(told) {
      this.ok = told.ok;
      this.reason = told.reason;
      this.message = told.message;
      this.answerJson = told.answer;
      this.outcome = JSON.parse(told.outcome);
      this.usage = told.usage;
    }
    get answer() {
      if (!this.ok) throw new AgentError(this.reason, this.message, this.outcome);
      return JSON.parse(this.answerJson ?? "null");
    }
  }

  // A function as the model: it gives a text, or a reply as an object.  Raises nothing, and answers once.
  function answer(ask, json, question) {
    Promise.resolve()
      .then(() => ask(JSON.parse(json)))
      .then((reply) => {
        const plain = typeof reply === "string";
        native.askAnswer(question, true, plain, plain ? reply : toJson(reply, "the reply"));
      })
      .catch((error) => native.askAnswer(question, false, true, error instanceof Error ? `${error.name}: ${error.message}` : String(error)));
  }

  function tellWatcher(watch, event) {
    try {
      watch(event);
    } catch (error) {
      queueMicrotask(() => { throw error; }); // as an error in any other callback would be
    }
  }

  // One run at a time.  What the addon holds knows `waiting` but not the mission, so that the collector can find it.
  class Mission {
    constructor(agent, context, { model, llm, ask, watch, tokenLimit } = {}) {
      if (model !== undefined && ask) throw new UsageError("the model is named, or a function: not both");
      if (model !== undefined && !llm) throw new UsageError("a model that is named needs llm: new Llm()");
      if (llm && (!(llm instanceof Llm) || llm.closed)) throw new UsageError("llm is an Llm that is open");
      for (const [name, f] of Object.entries({ ask, watch }))
        if (f !== undefined && typeof f !== "function") throw new UsageError(`${name} is a function`);
      const waiting = { end: null };
      this.waiting = waiting;
      const tell = (what, value, question) => {
        if (what === ASK) answer(ask, value, question);
        else if (what === EVENT) tellWatcher(watch, value);
        else if (what === END) waiting.end(value);
      };
      const json = context === undefined || context === null ? undefined : toJson(context, "context");
      this.handle = guarded(() => native.missionNew(agent.handle,
        { context: json, model, llm: llm?.handle, tokenLimit, asks: Boolean(ask), watches: Boolean(watch) }, tell));
      this.agent = agent; // its tools must live as long
    }

    run(message, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) throw signal.reason;
        const stop = () => native.missionCancel(this.handle);
        guarded(() => native.missionRun(this.handle, message));
        signal?.addEventListener("abort", stop, { once: true });
        this.waiting.end = (told) => {
          this.waiting.end = null;
          signal?.removeEventListener("abort", stop);
          if (signal?.aborted) reject(signal.reason);
          else if (typeof told === "string") reject(new UsageError(told));
          else resolve(new AgentResult(told));
        };
      });
    }

    close() {
      guarded(() => native.missionClose(this.handle));
    }
  }

  /** A conversation with an agent, which remembers what was said. */
  class Chat {
    constructor(mission) {
      this.mission = mission;
      this.last = null;
    }
    /** The answer to a message; rejects with an AgentError if there is none.  `last` is the whole result. */
    async say(message, { signal } = {}) {
      if (typeof message !== "string") throw new UsageError("a message is a string");
      this.last = await this.mission.run(message, signal);
      return this.last.answer;
    }
    close() {
      this.mission.close();
    }
  }

  /** A mission for a model: the path of an agent file, or what would be in it. */
  class Agent {
    constructor(source, { tools, agents, allowCommands, allowHttp } = {}) {
      const children = Object.entries(agents ?? {});
      for (const [name, agent] of children)
        if (!(agent instanceof Agent)) throw new UsageError(`the agent ${name} is not an Agent`);
      this.tools = tools ? new ToolSet(tools) : null;
      this.agents = children.map(([, agent]) => agent); // their functions must live as long as ours
      const text = typeof source === "string" ? { path: source } : { json: toJson(source, "the agent") };
      this.handle = guarded(() => native.agentNew({ ...text, tools: this.tools?.handle, allowCommands, allowHttp,
        childNames: children.map(([name]) => name), children: this.agents.map((agent) => agent.handle) }));
    }

    /** Runs it to its end, on a thread of its own. */
    async run(context, options = {}) {
      const mission = new Mission(this, context, options);
      try {
        return await mission.run(null, options.signal);
      } finally {
        mission.close();
      }
    }

    chat(context, options) {
      return new Chat(new Mission(this, context, options));
    }
  }

  return { AgentError, Llm, AgentResult, Chat, Agent };
};
