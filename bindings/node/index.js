// SPDX-License-Identifier: MIT
// PTC-Lisp in Node: engines, sessions, tools, upstreams; agent.js has agents.  Everything that a person can get wrong is said here; the addon trusts us.
"use strict";

const native = require("./lib/ptc.node");
const LIMITS = native.limits();

class PtcError extends Error {
  constructor(message) {
    super(message);
    this.name = this.constructor.name;
  }
}

/** An argument cannot be used: a tool, a limit, a snapshot. */
class UsageError extends PtcError {}
/** The program succeeded, but its result has no JSON form. */
class ResultError extends PtcError {}

/** The program failed. */
class ProgramError extends PtcError {
  constructor(findings) {
    const [first] = findings;
    const where = first.line ? `${first.line}:${first.column}: ` : "";
    super(`${where}${first.kind}: ${first.message}${first.hint ? ` (${first.hint})` : ""}`);
    const { message, ...rest } = first;
    Object.assign(this, rest, { detail: message, findings });
  }
}
class ParseError extends ProgramError {}
class RuntimeFailure extends ProgramError {}
class TimedOut extends ProgramError {}
class MemoryLimit extends ProgramError {}
class ArgsError extends ProgramError {}
class Failed extends ProgramError {}
class ValidationError extends ProgramError {}

const BY_REASON = { parse_error: ParseError, runtime_error: RuntimeFailure, timeout: TimedOut, memory_limit: MemoryLimit,
  args_error: ArgsError, fail: Failed, validation_error: ValidationError };

// What the addon says of a wrong argument becomes our kind of error.
function guarded(work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof PtcError ? error : new UsageError(error.message);
  }
}

// Programs have integers of any size; a Node that cannot write them says so, since a rounded one would be a lie.
function bigint(value) {
  if (JSON.rawJSON) return JSON.rawJSON(value.toString());
  if (Number.isSafeInteger(Number(value))) return Number(value);
  throw new TypeError(`${value}n needs a Node with JSON.rawJSON; pass it as a string`);
}

function toJson(value, what) {
  let json;
  try {
    json = JSON.stringify(value, (_, v) => {
      if (typeof v === "bigint") return bigint(v);
      if (v instanceof Set) return [...v];
      if (v instanceof Map) return Object.fromEntries(v);
      if (typeof v === "number" && !Number.isFinite(v)) throw new TypeError(`${v} has no JSON form`);
      return v;
    });
  } catch (error) {
    throw new UsageError(`${what}: ${error.message}`);
  }
  return json === undefined ? "null" : json;
}

const CHECK_WORDS = ["error", "warn", "off"];

// PTC_CHECK_ERROR and so on.
function checkMode(word) {
  if (word !== undefined && !CHECK_WORDS.includes(word))
    throw new UsageError(`check must be one of ${CHECK_WORDS.join(", ")}; got ${JSON.stringify(word)}`);
  return word === undefined ? undefined : CHECK_WORDS.indexOf(word);
}

function limitList(limits) {
  if (limits === undefined) return null;
  for (const [name, value] of Object.entries(limits)) {
    if (!LIMITS.includes(name)) throw new UsageError(`there is no limit ${name}; there are ${LIMITS.join(", ")}`);
    if (name === "check") checkMode(value);
    else if (value !== undefined && !Number.isInteger(value))
      throw new UsageError(`the limit ${name} must be a whole number; got ${JSON.stringify(value)}`);
  }
  return LIMITS.map((name) => name === "check" ? checkMode(limits.check) : limits[name]);
}

// An option that nobody reads could be a limit that somebody relies on.
function checkOptions(options, names) {
  for (const name of Object.keys(options ?? {}))
    if (names.includes(name)) continue;
    else if (LIMITS.includes(name)) throw new UsageError(`${name} is a limit: write limits: { ${name}: ... }`);
    else throw new UsageError(`there is no option ${name}; there are ${names.join(", ")}`);
}

// Tools as the addon wants them: {name: function or {function, signature, ...}} or a list of {name, function, ...}.
class ToolSet {
  constructor(tools) {
    if (typeof tools !== "object") throw new UsageError("tools must be an object, { name: function }");
    const rows = Array.isArray(tools) ? tools
      : Object.entries(tools).map(([name, tool]) => typeof tool === "function" ? { name, function: tool } : { name, ...tool });
    this.failure = undefined;
    for (const row of rows)
      if (typeof row === "function" || !row?.name) throw new UsageError("a tool needs a name: { name: function }");
      else if (typeof row.function !== "function") throw new UsageError(`the tool ${row.name} has no function`);
    const functions = rows.map((row) => row.function);
    this.handle = guarded(() => native.toolsNew(rows, (index, json, call) => this.answer(functions[index], json, call)));
  }

  // Raises nothing, and answers once.
  answer(tool, json, call) {
    Promise.resolve()
      .then(() => tool(JSON.parse(json)))
      .then((result) => native.toolsAnswer(call, true, toJson(result, "the result of the tool")))
      .catch((error) => {
        this.failure = error;
        native.toolsAnswer(call, false, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      });
  }
}

/** What one run gave. */
class Outcome {
  constructor(told, tools) {
    this.ok = told.ok;
    this.text = told.text;
    this.json = told.json;
    this.prints = told.prints;
    this.warnings = told.warnings;
    this.toolCalls = told.toolCalls;
    this.problem = told.problem ?? null;
    this.error = told.ok ? null : new (BY_REASON[told.errors[0].reason] ?? ProgramError)(told.errors);
    if (this.error?.kind === "tool_error" && tools?.failure) this.error.cause = tools.failure;
  }

  /** The result; throws what went wrong.  Of a definition its text, "#'name". */
  get value() {
    if (this.error) throw this.error;
    if (this.json === null && this.text?.startsWith("#'")) return this.text;
    if (this.json === null) throw new ResultError(`the result has no JSON form: ${this.problem}`);
    return JSON.parse(this.json);
  }
}

/** Data that many runs read, decoded once. */
class Data {
  constructor(engine, value, limit) {
    this.handle = guarded(() => native.dataNew(engine.handle, toJson(value, "data"), limit));
  }
}

/** What runs remember. */
class Session {
  constructor(engine, handle) {
    this.engine = engine;
    this.handle = handle;
  }
  evaluate(program, context, options) {
    return this.engine.evaluate(program, context, { ...options, session: this });
  }
  run(program, context, options) {
    return this.engine.run(program, context, { ...options, session: this });
  }
  evaluateSync(program, context, options) {
    return this.engine.evaluateSync(program, context, { ...options, session: this });
  }
  get names() {
    return guarded(() => native.sessionNames(this.handle));
  }
  get(name) {
    const json = guarded(() => native.sessionGet(this.handle, name));
    return json === undefined ? undefined : JSON.parse(json);
  }
  set(name, value) {
    guarded(() => native.sessionSet(this.handle, name, new Data(this.engine, value).handle));
  }
  delete(name) {
    return guarded(() => native.sessionForget(this.handle, name));
  }
  clear() {
    guarded(() => native.sessionForget(this.handle, null));
  }
  snapshot(key) {
    return guarded(() => native.sessionSnapshot(this.handle, Buffer.from(key)));
  }
}

/** Servers that programs of engines may call: the path of an upstreams file, or what would be in it. */
class Upstreams {
  constructor(source, { policy, approved, command, callTimeoutMs } = {}) {
    const text = typeof source === "string" ? { path: source } : { json: toJson(source, "upstreams") };
    this.handle = guarded(() => native.upstreamsNew({ ...text, policy, approved, command, callTimeoutMs }));
    this.engines = new Set();
  }
  /** How each of them is: {name, state, tools, reason}. */
  get states() {
    return native.upstreamsStates(this.handle);
  }
  /** Ends them; engines that use them go on without. */
  close() {
    for (const weak of this.engines) {
      const engine = weak.deref();
      if (engine) guarded(() => native.engineUse(engine.handle, null));
      this.engines.delete(weak);
    }
    native.upstreamsClose(this.handle);
  }
}

const ONLY_CHECK = Symbol("only check");

/** Runs programs under limits, one at a time. */
class Engine {
  constructor(options = {}) {
    checkOptions(options, ["limits", "tools", "floatPrecision", "upstreams"]);
    const { limits, tools, floatPrecision, upstreams } = options;
    this.tools = tools ? new ToolSet(tools) : null;
    this.handle = guarded(() => native.engineNew(limitList(limits), floatPrecision));
    if (upstreams === undefined || upstreams === null) return;
    if (!(upstreams instanceof Upstreams)) throw new UsageError("upstreams must be an Upstreams: new Upstreams(\"upstreams.json\")");
    guarded(() => native.engineUse(this.handle, upstreams.handle));
    upstreams.engines.add(new WeakRef(this));
  }

  prepare(program, context, options = {}) {
    if (typeof program !== "string") throw new UsageError("a program must be a string");
    if (Array.isArray(context) || (context && typeof context !== "object"))
      throw new UsageError("the context must be an object, whose keys are data/KEY in the program");
    checkOptions(options, ["session", "tools", "signature", "outputSchema", "limits", "check", "now", "signal"]);
    const { session, tools, signature, outputSchema, check, now } = options;
    const limits = check === undefined ? options.limits : { ...options.limits, check };
    const set = tools ? new ToolSet(tools) : this.tools;
    if (set) set.failure = undefined;
    const data = context === undefined || context === null ? null : context instanceof Data ? context : new Data(this, context);
    return { program, set, data: data?.handle, session: session?.handle, tools: set?.handle, signature,
      outputSchema: outputSchema === undefined ? undefined : toJson(outputSchema, "outputSchema"),
      limits: limitList(limits), onlyCheck: options[ONLY_CHECK] === true, nowMs: now === undefined ? undefined : Number(now) };
  }

  finish(told, set) {
    if (typeof told === "string") throw new UsageError(told);
    return new Outcome(told, set);
  }

  /** Everything that a run gives.  It has a thread of its own; tools run here. */
  run(program, context, options = {}) {
    return new Promise((resolve, reject) => {
      const given = this.prepare(program, context, options);
      const { signal } = options;
      const stop = () => this.cancel();
      const done = (told) => {
        signal?.removeEventListener("abort", stop);
        if (signal?.aborted) return reject(signal.reason);
        try {
          resolve(this.finish(told, given.set));
        } catch (error) {
          reject(error);
        }
      };
      if (signal?.aborted) throw signal.reason;
      const told = guarded(() => native.run(this.handle, given, done));
      if (told !== undefined) throw new UsageError(String(told));
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  /** What is wrong with a program, which does not run: errors, then warnings. */
  async check(program, context, options = {}) {
    const { error, warnings } = await this.run(program, context, { ...options, [ONLY_CHECK]: true });
    const found = (severity) => ({ kind, message, hint, line, column, phase }) => ({ kind, severity, message, hint, line, column, phase });
    return [...(error?.findings ?? []).map(found("error")), ...warnings.map(found("warning"))];
  }

  /** The result of a program; rejects with a ProgramError if it fails. */
  async evaluate(program, context, options) {
    return (await this.run(program, context, options)).value;
  }

  /** The same at once, without tools. */
  runSync(program, context, options = {}) {
    const given = this.prepare(program, context, options);
    if (given.set) throw new UsageError("tools run while a program waits: use run or evaluate");
    return this.finish(guarded(() => native.run(this.handle, given, null)), null);
  }

  evaluateSync(program, context, options) {
    return this.runSync(program, context, options).value;
  }

  session() {
    return new Session(this, guarded(() => native.sessionNew(this.handle)));
  }
  restore(snapshot, key) {
    return new Session(this, guarded(() => native.sessionRestore(this.handle, snapshot, Buffer.from(key))));
  }
  data(value, limit) {
    return new Data(this, value, limit);
  }
  cancel() {
    native.engineCancel(this.handle);
  }
  close() {
    guarded(() => native.engineClose(this.handle));
  }
}

let shared;

/** The result of a program, at once, in an engine with the usual limits. */
function evaluateSync(program, context, options) {
  shared ??= new Engine();
  return shared.evaluateSync(program, context, options);
}

/** The result of a program, in an engine of its own. */
async function evaluate(program, context, options = {}) {
  const { limits, ...rest } = options;
  return new Engine({ limits }).evaluate(program, context, rest);
}

const { AgentError, Llm, AgentResult, Chat, Agent } = require("./agent.js")({ native, guarded, toJson, ToolSet, PtcError, UsageError });
const version = native.version();
const languageCard = (tools = false) => native.languageCard(tools);

// Names only: Node reads them here, without running this file, for import { Engine } from "ptc-lisp".
module.exports = { AgentError, Llm, AgentResult, Chat, Agent, Engine, Session, Data, Outcome, Upstreams, evaluate, evaluateSync, version,
  languageCard, PtcError, UsageError, ResultError, ProgramError, ParseError, RuntimeFailure, TimedOut, MemoryLimit, ArgsError, Failed,
  ValidationError };
