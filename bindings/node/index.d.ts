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
}

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
  message: string;
  hint: string;
  line: number;
  column: number;
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

export class Engine {
  constructor(options?: { limits?: Limits; tools?: Tools; floatPrecision?: number });
  run(program: string, context?: Context | null, options?: RunOptions): Promise<Outcome>;
  evaluate<T = any>(program: string, context?: Context | null, options?: RunOptions): Promise<T>;
  runSync(program: string, context?: Context | null, options?: SyncOptions): Outcome;
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

export function evaluate<T = any>(program: string, context?: { [key: string]: unknown } | null, options?: RunOptions): Promise<T>;
export function evaluateSync<T = any>(program: string, context?: { [key: string]: unknown } | null, options?: SyncOptions): T;
export function languageCard(tools?: boolean): string;
export const version: string;

export class PtcError extends Error {}
export class UsageError extends PtcError {}
export class ResultError extends PtcError {}
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
