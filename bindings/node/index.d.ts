// SPDX-License-Identifier: MIT
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Fields of PtcLimits (docs/limits.md); what is left out has its default. */
export interface Limits {
  timeout_ms?: number;
  deadline_ms?: number;
  memory_bytes?: number;
  loop_limit?: number;
  max_depth?: number;
  max_int_bits?: number;
  program_bytes?: number;
  context_bytes?: number;
  session_bytes?: number;
  print_bytes?: number;
  result_bytes?: number;
  max_tool_calls?: number;
  tool_bytes?: number;
  max_workers?: number;
  seed?: number;
  check?: CheckMode;
}

/** What mistakes are that are found before a program runs (docs/check.md). */
export type CheckMode = "error" | "warn" | "off";

export type ToolFunction = (args: any) => unknown | Promise<unknown>;

export interface ToolOptions {
  function: ToolFunction;
  /** "(city :string) -> {temp :int}" (docs/signatures.md) */
  signature?: string;
  description?: string;
  /** The same arguments give the same result: keep it. */
  cache?: boolean;
  timeoutMs?: number;
  /** One call at a time. */
  serial?: boolean;
  /** A failure gives {:ok false, :message "..."} instead of an error. */
  onErrorValue?: boolean;
  readOnly?: boolean;
  idempotent?: boolean;
  /** It takes arguments that its signature does not name; else they are errors. */
  extra?: boolean;
}

/** By name, or a list of tools with names. */
export type Tools = { [name: string]: ToolFunction | ToolOptions } | (ToolOptions & { name: string })[];

export interface Finding {
  reason: string;
  phase: "parse" | "check" | "run";
  kind: string;
  message: string;
  hint: string;
  form: string;
  line: number;
  column: number;
}

export interface Warning {
  kind: string;
  phase: "check" | "run";
  message: string;
  hint: string;
  line: number;
  column: number;
}

/** What Engine.check found. */
export interface Mistake {
  kind: string;
  severity: "error" | "warning";
  message: string;
  hint: string;
  line: number;
  column: number;
  phase: "parse" | "check";
}

export interface ToolCall {
  name: string;
  arguments: string;
  result: string;
  ok: boolean;
  cached: boolean;
  durationUs: number;
}

export interface SyncOptions {
  session?: Session;
  signature?: string;
  outputSchema?: object;
  limits?: Limits;
  /** The same as limits.check. */
  check?: CheckMode;
  now?: Date | number;
}

export interface RunOptions extends SyncOptions {
  tools?: Tools;
  /** Ends the run when it is aborted. */
  signal?: AbortSignal;
}

export type Context = { [key: string]: unknown } | Data;

export class Outcome {
  readonly ok: boolean;
  readonly text: string | null;
  readonly json: string | null;
  readonly problem: string | null;
  readonly prints: string[];
  readonly warnings: Warning[];
  readonly toolCalls: ToolCall[];
  readonly error: ProgramError | null;
  /** The result; throws what went wrong. */
  get value(): any;
}

export interface UpstreamState {
  name: string;
  state: "ready" | "cold" | "starting" | "down" | "unusable" | "disabled";
  /** As far as they are known. */
  tools: number;
  /** Why it is down or unusable; "" otherwise. */
  reason: string;
}

/** Servers that programs of engines may call (docs/upstreams.md): the path of a file, or what would be in it. */
export class Upstreams {
  constructor(source: string | object, options?: {
    policy?: "default" | "read-only" | "trusting" | "allow-all";
    /** A person has agreed to calls that would have to be asked about. */
    approved?: boolean;
    /** The command `ptc`, under which servers that are processes run; otherwise the one on the PATH. */
    command?: string;
    callTimeoutMs?: number;
  });
  readonly states: UpstreamState[];
  /** Ends them; engines that use them go on without. */
  close(): void;
}

export class Engine {
  constructor(options?: { limits?: Limits; tools?: Tools; floatPrecision?: number; upstreams?: Upstreams | null });
  run(program: string, context?: Context | null, options?: RunOptions): Promise<Outcome>;
  evaluate<T = any>(program: string, context?: Context | null, options?: RunOptions): Promise<T>;
  runSync(program: string, context?: Context | null, options?: SyncOptions): Outcome;
  /** What is wrong with a program, which does not run: errors, then warnings (docs/check.md). */
  check(program: string, context?: Context | null, options?: RunOptions): Promise<Mistake[]>;
  evaluateSync<T = any>(program: string, context?: Context | null, options?: SyncOptions): T;
  session(): Session;
  restore(snapshot: Uint8Array, key: string | Uint8Array): Session;
  data(value: { [key: string]: unknown }, limit?: number): Data;
  cancel(): void;
  close(): void;
}

export class Data {
  private constructor();
}

export class Session {
  private constructor();
  evaluate<T = any>(program: string, context?: Context | null, options?: RunOptions): Promise<T>;
  run(program: string, context?: Context | null, options?: RunOptions): Promise<Outcome>;
  evaluateSync<T = any>(program: string, context?: Context | null, options?: SyncOptions): T;
  readonly names: string[];
  get(name: string): any;
  set(name: string, value: unknown): void;
  delete(name: string): boolean;
  clear(): void;
  snapshot(key: string | Uint8Array): Buffer;
}

/** Opens models by name, as `ptc run --llm` does (docs/providers.md). */
export class Llm {
  constructor(options?: {
    /** A .env file with keys. */
    dotenv?: string;
    /** A file with more aliases. */
    aliases?: string;
    /** A file for what models are asked and reply; the model "replay:FILE" replays it. */
    record?: string;
    replayLoose?: boolean;
  });
  /** After the runs that use it; throws if a record could not be written completely. */
  close(): void;
}

export interface AgentEvent {
  kind: "began" | "ended" | "asked" | "answered" | "program_began" | "program_ended" | "called" | "turn_ended" | "text";
  /** A path of tool names; "" is the agent itself. */
  agent: string;
  turn: number;
  ok: boolean;
  reason: string | null;
  text: string;
  inputTokens: number;
  outputTokens: number;
}

export interface Usage {
  turns: number;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  durationUs: number;
}

/** A request, and a reply that is more than a text (docs/replay.md). */
export type Ask = (request: any) => string | object | Promise<string | object>;

export interface ChatOptions {
  /** A model by name, with `llm`; or `ask`; or what the agent names. */
  model?: string;
  llm?: Llm;
  ask?: Ask;
  watch?: (event: AgentEvent) => void;
  tokenLimit?: number;
}

export interface AgentRunOptions extends ChatOptions {
  /** Ends the run when it is aborted. */
  signal?: AbortSignal;
}

/** How a run of an agent ended. */
export class AgentResult {
  private constructor();
  readonly ok: boolean;
  /** Why there is no answer: a word, and a sentence. */
  readonly reason: string | null;
  readonly message: string | null;
  readonly answerJson: string | null;
  /** What `ptc run --json` prints. */
  readonly outcome: any;
  readonly usage: Usage;
  /** The answer; throws an AgentError if there is none. */
  get answer(): any;
}

export class Chat {
  private constructor();
  say(message: string, options?: { signal?: AbortSignal }): Promise<any>;
  /** The whole result of the last message. */
  readonly last: AgentResult | null;
  close(): void;
}

/** A mission for a model (docs/agents.md): the path of an agent file, or what would be in it. */
export class Agent {
  constructor(source: string | object, options?: {
    tools?: Tools;
    /** Other agents that it may call, by name. */
    agents?: { [name: string]: Agent };
    /** Its file may have tools that are commands, or HTTP requests. */
    allowCommands?: boolean;
    allowHttp?: boolean;
  });
  run(context?: { [key: string]: unknown } | null, options?: AgentRunOptions): Promise<AgentResult>;
  chat(context?: { [key: string]: unknown } | null, options?: ChatOptions): Chat;
}

export function evaluate<T = any>(program: string, context?: { [key: string]: unknown } | null, options?: RunOptions): Promise<T>;
export function evaluateSync<T = any>(program: string, context?: { [key: string]: unknown } | null, options?: SyncOptions): T;
export function languageCard(tools?: boolean): string;
export const version: string;

export class PtcError extends Error {}
export class UsageError extends PtcError {}
export class ResultError extends PtcError {}
/** An agent has no answer. */
export class AgentError extends PtcError {
  readonly reason: string;
  readonly detail: string;
  readonly outcome: any;
}
export class ProgramError extends PtcError {
  readonly findings: Finding[];
  readonly reason: string;
  readonly phase: "parse" | "check" | "run";
  readonly kind: string;
  readonly detail: string;
  readonly hint: string;
  readonly form: string;
  readonly line: number;
  readonly column: number;
}
export class ParseError extends ProgramError {}
export class RuntimeFailure extends ProgramError {}
export class TimedOut extends ProgramError {}
export class MemoryLimit extends ProgramError {}
export class ArgsError extends ProgramError {}
export class Failed extends ProgramError {}
export class ValidationError extends ProgramError {}
