#nullable enable
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Ports
{
    public sealed class CompiledCode
    {
        public CompiledCode(Assembly? assembly, IReadOnlyList<CompilerMessage> messages)
        {
            Assembly = assembly;
            Messages = messages;
        }

        /// <summary>Null when there were errors.</summary>
        public Assembly? Assembly { get; }

        public IReadOnlyList<CompilerMessage> Messages { get; }
    }

    /// <summary>Compiles a piece of C# out of process against the Editor's loaded assemblies. Any thread.</summary>
    public interface ICodeCompiler
    {
        Task<CompiledCode> CompileAsync(string source, string assemblyName, CancellationToken cancellation);
    }
}
