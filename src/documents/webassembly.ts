/** The part of WebAssembly that we use, typed: TypeScript declares it only in the browser's types. */
export type Imports = Record<string, Record<string, (...args: number[]) => number>>;
export type CompiledModule = object;

interface WebAssemblyParts {
  Module: new (bytes: Uint8Array) => CompiledModule;
  Instance: new (module: CompiledModule, imports: Imports) => { readonly exports: Record<string, unknown> };
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
  RuntimeError: new (message?: string) => Error;
}

export type Instance = InstanceType<WebAssemblyParts["Instance"]>;
export type Memory = InstanceType<WebAssemblyParts["Memory"]>;

export const { Module, Instance, Memory, RuntimeError } = (
  globalThis as unknown as { WebAssembly: WebAssemblyParts }
).WebAssembly;
